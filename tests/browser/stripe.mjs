// The part of Stripe that pages need: customers, sessions, the portal, saved cards, and signed
// events. The stand-in of the black-box tests checks how strictly requests are made.

import { createHmac } from "node:crypto";
import { createServer } from "node:http";

const SECRET_KEY = "sk_test_ofTheStandIn1234";
const WEBHOOK_SECRET = "whsec_ofTheStandIn1234";

export async function startStripe() {
  let made = 0;
  const sessions = [];
  const cards = {};
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const fields = Object.fromEntries(new URLSearchParams(body));
    const url = new URL(request.url, "http://stripe.test");
    const id = `id_${++made}`;
    const answers = {
      "/v1/customers": () => ({ id: `cus_${id}` }),
      "/v1/checkout/sessions": () => {
        sessions.push({ ...fields, id: `cs_${id}` });
        return { id: `cs_${id}`, url: `${address}/checkout` };
      },
      "/v1/billing_portal/sessions": () => ({ id: `bps_${id}`, url: `${address}/portal` }),
      "/v1/payment_methods": () => ({ data: (cards[url.searchParams.get("customer")] ?? []).map((card) => ({ id: card })) }),
    };
    const answer = answers[url.pathname];
    if (!answer) {
      response.writeHead(200, { "content-type": "text/html" }).end(`<title>Stripe</title><h1>${url.pathname}</h1>`);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer()));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}`;

  async function send(service, type, object) {
    const body = JSON.stringify({ id: `evt_${++made}`, object: "event", type, created: Math.floor(Date.now() / 1000), livemode: false, data: { object } });
    const at = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", WEBHOOK_SECRET).update(`${at}.${body}`).digest("hex");
    const headers = { "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` };
    const answer = await fetch(`${service.address}/webhooks/stripe`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`${type}: ${answer.status} ${await answer.text()}`);
  }

  return {
    address,
    settings: {
      CYCLORAMA_PAYMENTS: "stripe",
      CYCLORAMA_STRIPE_SECRET_KEY: SECRET_KEY,
      CYCLORAMA_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      CYCLORAMA_STRIPE_API_URL: address,
    },
    sessions,
    /** Pays in a session, and returns its intent. */
    async pay(service, session) {
      const amount = Number(session["line_items[0][price_data][unit_amount]"]);
      const intent = `pi_${++made}`;
      const payment = session["metadata[cyclorama_payment]"];
      (cards[session.customer] ??= []).unshift(`pm_${made}`);
      await send(service, "checkout.session.completed", {
        id: session.id, object: "checkout.session", mode: "payment", status: "complete", payment_status: "paid", amount_total: amount,
        currency: "usd", payment_intent: intent, customer: session.customer, client_reference_id: payment, metadata: { cyclorama_payment: payment },
      });
      return { intent, amount, payment };
    },
    /** Refunds `cents` of a payment in total. */
    refund: (service, { intent, amount, payment }, cents) =>
      send(service, "charge.refunded", {
        id: `ch_${intent}`, object: "charge", amount, amount_refunded: cents, currency: "usd", refunded: cents === amount,
        payment_intent: intent, metadata: { cyclorama_payment: payment },
      }),
    /** A payment that nobody here requested, so an operator must look at it. */
    stray: (service) =>
      send(service, "checkout.session.completed", {
        id: "cs_stray", object: "checkout.session", mode: "payment", status: "complete", payment_status: "paid", amount_total: 700,
        currency: "usd", payment_intent: "pi_stray", customer: "cus_stray", client_reference_id: "0198c0de-0000-7000-8000-000000000000",
        metadata: { cyclorama_payment: "0198c0de-0000-7000-8000-000000000000" },
      }),
    stop: () => server.close(),
  };
}
