// An OpenID Connect provider for tests: oidc-provider, unchanged, with two additions. A person is
// any name that is typed at its sign-in page; `POST /test` sets the claims of people and the lie of
// its next token answer.
//
//   node provider.mjs REDIRECT_URI CLIENT_ID CLIENT_SECRET [ID_TOKEN_CLAIMS]
//
// It prints its issuer as one line of JSON.

import { webcrypto } from "node:crypto";
import { createServer } from "node:http";

// Debian 12's Node.js lacks these.
globalThis.crypto ??= webcrypto;
URL.parse ??= (address) => (URL.canParse(address) ? new URL(address) : null);
const { generateKeyPair, exportJWK, decodeJwt, SignJWT } = await import("jose");
const { default: Provider } = await import("oidc-provider");

const [redirectUri, clientId, clientSecret, tokenClaims] = process.argv.slice(2);

const server = createServer();
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

async function key(kid) {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const named = { kid, alg: "RS256", use: "sig" };
  return { privateKey, private: { ...(await exportJWK(privateKey)), ...named }, public: { ...(await exportJWK(publicKey)), ...named } };
}
const [own, newer, foreign] = [await key("own"), await key("newer"), await key("own")];

/** Claims of people, by the name that they type. */
const people = {};
/** The lie of the next answers. */
let lie = null;
/** True if the newer key is published. */
let told = false;

const provider = new Provider(issuer, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
  jwks: { keys: [own.private] },
  cookies: { keys: ["only for tests"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  // With this setting, claims are in the ID token as well.
  conformIdTokenClaims: tokenClaims !== "id_token",
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  pkce: { required: () => true },
  ttl: { Session: 3600, Interaction: 3600, Grant: 3600, AccessToken: 3600, IdToken: 3600 },
});

function sign(claims, { privateKey }, header = {}) {
  return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own", ...header }).sign(privateKey);
}

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The forms in which an attacker, or a broken provider, could send a token. */
const lies = {
  expired: (claims) => sign({ ...claims, iat: claims.iat - 7200, exp: claims.exp - 7200 }, own),
  nonce: (claims) => sign({ ...claims, nonce: "of another sign-in" }, own),
  no_nonce: ({ nonce, ...claims }) => sign(claims, own),
  audience: (claims) => sign({ ...claims, aud: "another client" }, own),
  more_audiences: (claims) => sign({ ...claims, aud: [claims.aud, "another client"] }, own),
  issuer: (claims) => sign({ ...claims, iss: "https://another.example" }, own),
  foreign_key: (claims) => sign(claims, foreign),
  unknown_key: (claims) => sign(claims, newer, { kid: "nobody's" }),
  unsigned: (claims) => `${base64({ alg: "none" })}.${base64(claims)}.`,
  shared_secret: (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(clientSecret)),
  changed: async (claims) => {
    const [header, , signature] = (await sign(claims, own)).split(".");
    return `${header}.${base64({ ...claims, sub: "somebody else" })}.${signature}`;
  },
  access_token: (claims) => sign({ ...claims, at_hash: "AAAAAAAAAAAAAAAAAAAAAA" }, own),
  garbage: () => "not a token",
  missing: () => undefined,
  /** Not a lie: the provider has a new key. */
  newer_key: (claims) => {
    told = true;
    return sign(claims, newer, { kid: "newer" });
  },
};

provider.use(async (ctx, next) => {
  if (ctx.path === "/test" && ctx.method === "POST") {
    let body = "";
    for await (const chunk of ctx.req) body += chunk;
    const order = JSON.parse(body);
    Object.assign(people, order.people ?? {});
    lie = order.lie ?? null;
    ctx.status = 204;
    return;
  }
  await next();
  if (ctx.path === "/jwks" && told) ctx.body = { keys: [...ctx.body.keys, newer.public] };
  if (ctx.path === "/token" && lie && ctx.status === 200) {
    ctx.body = { ...ctx.body, id_token: await lies[lie](decodeJwt(ctx.body.id_token)) };
  }
  if (ctx.path === "/me" && lie === "user_information") ctx.body = { ...ctx.body, sub: "somebody else" };
});

server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
// Ends with the process that started it.
process.stdin.resume().on("end", () => process.exit(0));
