import { css, html, LitElement, nothing, svg } from 'lit';

class X extends LitElement {
  static styles = css`a{}`;
  static properties = { a: {} };
  render() {
    return html`<p>${nothing}${svg`<a/>`}</p>`;
  }
}
customElements.define('x-x', X);
