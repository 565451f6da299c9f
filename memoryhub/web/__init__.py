"""What every page needs and no app owns: how text, times and differences are shown."""
