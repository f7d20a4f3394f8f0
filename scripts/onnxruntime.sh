#!/usr/bin/env bash
# Fetches ONNX Runtime's shared library from its wheel on PyPI, once, and prints its folder. With
# `openvino` it is the build that has Intel's provider, which is faster on CPUs with bf16
# instructions. Safe to repeat and to run twice at a time.
# usage: onnxruntime.sh [openvino]
set -euo pipefail

# The wheels are pinned, and with them their contents. Any Python can fetch them: cp312 only names
# the wheel, which nothing runs.
package=onnxruntime version=1.31.1
libraries="libonnxruntime_providers_shared.so"
case ${1:-}-$(uname -s)-$(uname -m) in
    -Linux-x86_64) platform=manylinux_2_28_x86_64 digest=1f3dea47f2f0e5117c2404cea7d21fd253ae7836a3bf167a501cdfbb2600d536 ;;
    -Linux-aarch64) platform=manylinux_2_28_aarch64 digest=0b9a492176886992e0e875f06bc0367e333f5fff11711a2d642e18b02f3009cc ;;
    openvino-Linux-x86_64)
        package=onnxruntime-openvino version=1.24.1
        platform=manylinux_2_28_x86_64 digest=d617fac2f59a6ab5ea59a788c3e1592240a129642519aaeaa774761dfe35150e
        libraries="$libraries libonnxruntime_providers_openvino.so libopenvino.so.2541 libopenvino_intel_cpu_plugin.so libopenvino_onnx_frontend.so.2541 libtbb.so.12"
        ;;
    *)
        echo "onnxruntime: there is no pinned build ${1:-} for $(uname -s) on $(uname -m): set ORT_DYLIB_PATH to your own libonnxruntime (1.24 or newer)" >&2
        exit 1
        ;;
esac

cache=${CYCLORAMA_CACHE:-$HOME/.cache/cyclorama}
folder=$cache/$package/$version
library=$folder/libonnxruntime.so
# The folder appears in one rename when everything is in it, so its existence is proof enough.
if [ -f "$library" ]; then
    echo "$library"
    exit 0
fi

mkdir -p "$cache/$package"
partial=$(mktemp -d "$cache/$package/.partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT

# pip from the system, from ensurepip, or from a virtual environment: Debian may have any of the
# three.
if python3 -m pip --version >/dev/null 2>&1; then
    pip=(python3 -m pip)
elif python3 -m venv "$partial/venv" >/dev/null 2>&1; then
    pip=("$partial/venv/bin/python" -m pip)
else
    echo "onnxruntime: fetching the library needs Python's pip: apt-get install python3-pip (or python3-venv), then run the same command again" >&2
    exit 1
fi

printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$digest" >"$partial/requirements.txt"
if ! "${pip[@]}" download --quiet --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    --only-binary=:all: --implementation cp --python-version 3.12 --abi cp312 --platform "$platform" \
    --dest "$partial" --requirement "$partial/requirements.txt" >"$partial/log" 2>&1; then
    echo "onnxruntime: could not fetch $package $version from the package index: $(grep -m1 ERROR "$partial/log" || tail -n 1 "$partial/log")" >&2
    exit 1
fi

mkdir "$partial/ready"
python3 - "$partial"/onnxruntime*.whl "$partial/ready" "$version" "$libraries" <<'PYTHON'
import pathlib, sys, zipfile
wheel, target, version, libraries = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
wanted = {
    f"onnxruntime/capi/libonnxruntime.so.{version}": "libonnxruntime.so",
    "onnxruntime/LICENSE": "LICENSE",
    "onnxruntime/ThirdPartyNotices.txt": "ThirdPartyNotices.txt",
}
wanted |= {f"onnxruntime/capi/{name}": name for name in libraries.split()}
for source, name in wanted.items():
    (target / name).write_bytes(wheel.read(source))
PYTHON

# A run that finishes second finds the folder and leaves it.
mv -T "$partial/ready" "$folder" 2>/dev/null || [ -f "$library" ]
echo "$library"
