"""The variables of a model: each mechanism's own, and :class:`~model.state.pipeline.Pipeline`, which declares them."""
