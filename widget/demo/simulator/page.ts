import type { TemplateResult } from 'lit';

/** The page of the simulator, as its sections use it. */
export interface Page {
  /** Error messages by field. */
  readonly errors: Readonly<Record<string, string>>;
  /** Returns the time by the server's clock. */
  now(): Date;
  /** A button that runs a control. */
  renderButton(label: string, path: string, done: Done, input?: object): TemplateResult;
  /** A form with one amount. */
  renderForm(form: {
    field: string;
    label: string;
    initial: string;
    button: string;
    submit: (text: string) => void;
  }): TemplateResult;
  showError(field: string, error: string): void;
  /**
   * Runs a control and shows its outcome. Returns whether it was applied.
   * @param errors the error of each field of the input, by its path
   */
  run(path: string, input: object, done: Done, errors?: Record<string, FieldOfError>): Promise<boolean>;
}

/** The sentence for a control that was applied. */
// biome-ignore lint/suspicious/noExplicitAny: each control knows its own answer
export type Done = string | ((body: any) => string);

/** The sentence for a claim on a payment. */
export const disputed: Done = ({ waits }) =>
  waits
    ? 'A contestação espera pelo fim de um estorno em andamento.'
    : 'Disputa aberta; o valor ficou retido.';

/** The field that shows an error, and the sentence in place of the server's. */
export interface FieldOfError {
  field: string;
  error: string;
}
