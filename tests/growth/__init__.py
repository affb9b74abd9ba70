"""Growth: twice as much may cost twice as much. Counted in instructions and bytes, so that no test is timed."""
