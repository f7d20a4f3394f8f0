// Converts the rules of infra/prometheus for the Prometheus operator. Run by itself, it writes
// infra/kubernetes/prometheus-rule.yaml.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";

const infra = fileURLToPath(new URL("../../infra/", import.meta.url));
const FILE = `${infra}kubernetes/prometheus-rule.yaml`;
const HEAD = "# Made from infra/prometheus by `node tests/infrastructure/prometheus_rule.mjs`; change the rules there.\n";

function rule() {
    const groups = ["recording-rules", "alert-rules"].flatMap((name) => parse(readFileSync(`${infra}prometheus/${name}.yaml`, "utf8")).groups);
    return { apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", metadata: { name: "cyclorama" }, spec: { groups } };
}

export const written = () => readFileSync(FILE, "utf8");
export const expected = () => HEAD + stringify(rule(), { lineWidth: 0 });

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(FILE, expected());
