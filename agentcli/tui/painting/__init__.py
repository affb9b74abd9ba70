"""From text to rows of the screen: clean, laid out, coloured by the palette."""
