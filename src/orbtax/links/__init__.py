"""Where: the catalogue of links, and how each kind is opened and read back."""
