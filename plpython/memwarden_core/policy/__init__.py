"""Policy conditions: written like SQL, compiled to jsonpath."""
