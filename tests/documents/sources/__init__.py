"""Sources: folders and buckets that are followed."""
