"""Steps of studies: one plain function a kind, `run(settings, inputs, out, work)`; see `studies.step`."""
