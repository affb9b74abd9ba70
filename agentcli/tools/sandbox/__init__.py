"""The sandbox that the agent's commands run in: what it allows (`policy`), and what enforces that on this system."""
