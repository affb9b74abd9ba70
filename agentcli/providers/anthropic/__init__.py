"""The Anthropic Messages API, and its forms on Bedrock and Vertex."""
