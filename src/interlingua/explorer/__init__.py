"""The live page: two sentences in; words, links, attributions, flows and neighbours out, layer by layer."""
