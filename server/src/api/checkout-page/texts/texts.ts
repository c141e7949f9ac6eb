import type { Html } from '../html.ts';

/** The texts of a field of the card form: its label and help, and the errors of an empty and of an impossible value. */
interface FieldTexts {
  label: string;
  hint: string;
  placeholder: string;
  missing: string;
  invalid: string;
}

type Interval = 'weekly' | 'monthly' | 'quarterly' | 'semiannual' | 'yearly';

/** The texts of the hosted pages in one language. Text from outside reaches them as `Html`, or is escaped where they are shown. */
export interface Texts {
  page: {
    poweredBy: Html;
    languages: string;
    totalToPay: string;
    amount: string;
    to: string;
    description: string;
    expiresIn: string;
    /** The end of the line above without a script: the time of day. */
    until(time: string): string;
    /** The end of that line if the end is more than a day away. */
    untilDay(instant: string): string;
    fiveMinutesLeft: string;
    oneMinuteLeft: string;
    hasExpired: string;
    testEnvironment: string;
    testNothingCharged: string;
    security: string;
    backToShop: string;
    continueToShop: string;
    mayClose: string;
    refreshNow: string;
    refreshesItself: string;
    startAgain: string;
    timeIsUp: string;
    notCompleted: string;
    alreadyPaid: string;
    orderRefunded: string;
    orderRefundedText: string;
    canceled: string;
    allSet: string;
    shopSeesPayment(shop: Html): Html;
    paidAt: string;
    refundedAt: string;
    payment: string;
    copied: string;
  };
  receipt: {
    title: string;
    print: string;
    share: string;
  };
  delivered: {
    title: string;
    pending: string;
    open: string;
    yourCode: string;
    yourContent: string;
    copy: string;
    /** The object of the button above, for a screen reader. */
    ofCode: string;
    ofContent: string;
    saved: string;
    selected: string;
  };
  /** The texts of the error pages, by HTTP status; `other` is for faults. */
  problems: Record<400 | 403 | 404 | 413 | 415 | 429 | 'other', { title: string; text: string }> & {
    seePayment: string;
  };
  card: {
    pay(amount: string): string;
    promise: string;
    title: string;
    fields: Record<'number' | 'holder' | 'expiry' | 'cvv', FieldTexts>;
    isExpired: string;
    testCardsOnly: string;
    testWarning: string;
    processing: string;
    cancelAndReturn: string;
    cancel: string;
    nothingChargedMayClose: string;
    lastTry: string;
    twoTries: string;
    declinedTitle: string;
    bankDeclined: string;
    notReached: string;
    checkCard: string;
    waitTitle: string;
    wait(seconds: number): string;
    typeAgain: string;
    fieldsToCorrect(count: number): string;
    testCards: string;
    testCardsHint: string;
    use: string;
    /** The object of the button above, for a screen reader. */
    ofCard(digits: string): string;
    approved: string;
    approvedRefundLater: string;
    approvedRefundFails: string;
    declined: string;
    declinedForGood: string;
    /** `duration` is a number with its unit. */
    approvedAfter(duration: string): string;
    confirming: string;
    confirmingText: string;
    confirmingHint: string;
    paid: string;
    order: string;
    nothingCharged: string;
    canceledText(shop: Html, at: string): Html;
    expiredText(at: string): string;
    refunded: string;
    refundedText: string;
    paidBefore: string;
    alreadyPaidText: string;
  };
  pix: {
    pay(amount: string): string;
    authorise(amount: string): string;
    promise: string;
    qrLabel(amount: string, shop: string): string;
    testWarning: string;
    title: string;
    authoriseTitle: string;
    scan: string;
    code: string;
    copy: string;
    codeCopied: string;
    codeSelected: string;
    hint: string;
    otherDevice: string;
    havePaid: string;
    creating: string;
    creatingText: string;
    canceledText(shop: Html, at: string): Html;
    expiredText(at: string): string;
    justPaid: Html;
    alreadyPaidText: string;
    paid: string;
    paidLate: string;
    refunded: string;
    refundedAmount: string;
    refundedText: string;
    failedText: string;
    /** `isDone` is false while the money is on its way. */
    returned(amount: Html, isDone: boolean, reason: string): Html;
    returnReasons: Record<
      'already_paid' | 'amount_mismatch' | 'canceled' | 'not_payable' | 'paid_elsewhere' | 'unknown',
      string
    >;
    moreReturned(count: number): string;
  };
  recurrence: {
    every: Record<Interval, string>;
    until(cycles: number | null): string;
    terms(amount: string, every: string, until: string, shop: Html): Html;
    /** The text instead of the terms, if no payment follows the first. */
    once(amount: string): Html;
    expired: string;
    expiredText(at: string): string;
    startAgain: string;
    paid: string;
    paidText: string;
    over: string;
    overText: string;
    shopSees(shop: Html): Html;
    charge: string;
    authorisedAt: string;
    nextCharge: string;
    subscription: string;
    failed: string;
    failedText: string;
  };
  ltc: {
    pay(amount: string): string;
    promise: string;
    qrLabel(amount: string, shop: string): string;
    testWarning: string;
    title: string;
    receivedPart(amount: Html): Html;
    scan: string;
    send(amount: Html): Html;
    amount: string;
    copyAmount: string;
    amountCopied: string;
    amountSelected: string;
    address: string;
    copy: string;
    addressCopied: string;
    addressSelected: string;
    hint: string;
    openWallet: string;
    haveSent: string;
    creating: string;
    creatingText: string;
    confirming: string;
    confirmingText(confirmations: Html): Html;
    /** `2 of 3`, as the sentence above contains it. */
    confirmations(done: number, required: number): string;
    confirmingHint: string;
    canceledText(shop: Html, at: string): Html;
    expiredText: string;
    justSent: Html;
    alreadyPaidText: string;
    paid: string;
    paidLate: string;
    received: string;
    failedPart(amount: Html, shop: Html, payment: Html): Html;
    failedNothing: string;
  };
}
