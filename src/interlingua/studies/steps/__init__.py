"""Steps of studies: one plain function per kind, `run(settings, context)`; see `engine.step`."""
