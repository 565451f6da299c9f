"""Dreams: consolidation that can be trusted, because everything it may do is checked, and undone."""
