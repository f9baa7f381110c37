"""What a notebook calls: one file per command."""
