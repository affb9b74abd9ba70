"""What helps to write: completion, history, drafts, pastes, and text from other programs."""
