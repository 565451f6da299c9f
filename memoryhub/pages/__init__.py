"""Pages and parts of pages that need several apps at once."""
