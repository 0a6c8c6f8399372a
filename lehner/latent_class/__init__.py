"""Latent-class models by maximum likelihood."""
