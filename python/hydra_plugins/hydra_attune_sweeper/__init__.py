"""attune as a sweeper of Hydra (docs/frameworks.md)."""
