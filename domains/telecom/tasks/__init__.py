"""Generation of telecom tasks: the bundled ones (``generator``) and freshly sampled ones (``sampler``)."""
