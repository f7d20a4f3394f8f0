/**
 * URLs of `/images/car.png` that a partner signs. The holder of a partner secret gives images away
 * for free until a URL expires.
 */

const PATH = "/images/car.png";
const AHEAD_MAX_SECONDS = 30 * 86_400;

export type Verdict = "valid" | "unsigned" | "malformed" | "expired" | "too_far_ahead" | "wrong";

/**
 * Signs the URL of an image at the service `url`. It is valid until `expires_at` (Unix seconds, at
 * most 30 days ahead). Never use it in a web page, because it needs the secret.
 */
export async function signPartnerUrl(
  url: string,
  secret: string,
  parameters: Readonly<Record<string, string | number>>,
  expires_at: number,
): Promise<string> {
  for (const name of ["exp", "sig"]) {
    if (name in parameters) throw new TypeError(`\`${name}\` must not be given, because signing adds it`);
  }
  const pairs = Object.entries({ ...parameters, exp: expires_at }).map(([name, value]): [string, string] => [name, String(value)]);
  const text = signedText(pairs);
  const signature = await crypto.subtle.sign("HMAC", await keyOf(secret), encoded(text));
  const hex = Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${url.replace(/\/+$/, "")}${text}&sig=${hex}`;
}

/** Checks a URL as the service would. `now` is in Unix seconds. */
export async function verifyPartnerUrl(url: string, secret: string, now: number = Date.now() / 1000): Promise<Verdict> {
  const [path = "", query = ""] = url.replace(/#.*$/, "").replace(/^https?:\/\/[^/?]*/, "").split(/\?(.*)/s);
  if (path !== PATH) return "unsigned";
  const given = new URLSearchParams(query);
  const exps = given.getAll("exp");
  const sigs = given.getAll("sig");
  if (exps.length === 0 && sigs.length === 0) return "unsigned";
  const [exp = "", sig = ""] = [exps[0], sigs[0]];
  if (exps.length !== 1 || sigs.length !== 1 || !/^[0-9]{1,12}$/.test(exp) || !/^[0-9a-f]{64}$/.test(sig)) return "malformed";
  const left = Number(exp) - Math.floor(now);
  if (left <= 0) return "expired";
  if (left > AHEAD_MAX_SECONDS) return "too_far_ahead";
  const signature = Uint8Array.from(sig.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  // Compares in constant time.
  const fits = await crypto.subtle.verify("HMAC", await keyOf(secret), signature, encoded(signedText([...given])));
  return fits ? "valid" : "wrong";
}

/**
 * Returns the text that is signed: the path, and the query without `sig`, sorted by key, in form
 * encoding (URL Standard, application/x-www-form-urlencoded).
 */
function signedText(pairs: readonly [string, string][]): string {
  const signed = pairs.filter(([name]) => name !== "sig").sort(([a], [b]) => byCodePoints(a, b));
  return `${PATH}?${new URLSearchParams(signed)}`;
}

/** In the order of UTF-8 bytes, which differs from the order of JavaScript strings. */
function byCodePoints(a: string, b: string): number {
  const [first, second] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(first.length, second.length); at++) {
    const difference = (first[at]?.codePointAt(0) ?? 0) - (second[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function keyOf(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", encoded(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
