"""The model catalog: providers and models as data, and how a model is found."""
