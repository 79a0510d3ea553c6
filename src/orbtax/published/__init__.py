"""The published results that the studies stand beside, as data (SOURCES.md says whence)."""
