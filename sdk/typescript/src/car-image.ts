/**
 * `<car-image srcset sizes src alt width height placeholder>`: an image from signed URLs that a
 * server put into the page. Until the image is loaded, and if loading fails, the element shows the
 * placeholder (a URL or a CSS color) and the alternative text.
 */

const PASSED_ON = ["src", "srcset", "sizes", "alt", "width", "height"] as const;
const STYLE = `
  :host { display: inline-block; max-width: 100%; background: var(--car-image-placeholder, transparent) center / contain no-repeat; }
  :host([state="loaded"]) { background: none; }
  img { display: block; max-width: 100%; height: auto; }
`;

/** Defines the element under this name. A second call changes nothing. */
export function defineCarImage(name = "car-image"): void {
  if (customElements.get(name)) return;
  customElements.define(name, class extends CarImageBase() {});
}

/** Created when it is needed, so that a server can load this file too: only pages have elements. */
function CarImageBase() {
  return class CarImageElement extends HTMLElement {
    static readonly observedAttributes = [...PASSED_ON, "placeholder"];
    readonly #image = document.createElement("img");

    constructor() {
      super();
      const style = document.createElement("style");
      style.textContent = STYLE;
      this.#image.part.add("image");
      this.#image.loading = "lazy";
      this.#image.decoding = "async";
      this.#image.addEventListener("load", () => this.#end("loaded"));
      this.#image.addEventListener("error", () => this.#end("failed"));
      this.attachShadow({ mode: "open" }).append(style, this.#image);
    }

    attributeChangedCallback(name: string, _old: string | null, value: string | null): void {
      if (name === "placeholder") return this.#placeholder(value);
      if (name === "src" || name === "srcset") this.setAttribute("state", "loading");
      if (value === null) this.#image.removeAttribute(name);
      else this.#image.setAttribute(name, value);
    }

    #placeholder(value: string | null): void {
      if (value === null) this.style.removeProperty("--car-image-placeholder");
      else this.style.setProperty("--car-image-placeholder", CSS.supports("color", value) ? value : `url(${JSON.stringify(value)})`);
    }

    /**
     * Signed URLs expire. A page that stays open should listen for `car-image-failed` and request
     * new ones from its server.
     */
    #end(state: "loaded" | "failed"): void {
      this.setAttribute("state", state);
      this.dispatchEvent(new CustomEvent(`car-image-${state}`, { bubbles: true, composed: true }));
    }
  };
}
