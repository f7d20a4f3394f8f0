// The console works without this, by loading itself again: it shows what changes as it changes.
"use strict";

const live = document.getElementById("live");
const pulse = document.getElementById("pulse");
const events = new EventSource("/console/events");

events.onopen = () => { pulse.textContent = "live"; };
events.onerror = () => { pulse.textContent = "The service does not respond. Trying again."; };
events.onmessage = (event) => {
  const fresh = new DOMParser().parseFromString(event.data, "text/html");
  live.replaceChildren(...fresh.body.childNodes);
};
