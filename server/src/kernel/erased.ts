/** The text in the place of a name, an e-mail address, a document, a phone or a PIX key that was erased on its owner's request. */
export const ERASED = '[erased]';
