"""The OpenAI APIs: Chat Completions and Responses."""
