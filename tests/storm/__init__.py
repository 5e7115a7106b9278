"""The storm: everything that can die dies, a tenant is hostile, and at the end every acknowledgement has to hold."""
