"""Side by side with peers: every speed claim of the documentation is a ratio measured here, in one run."""
