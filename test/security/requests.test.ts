import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

describe('a request', () => {
  test.each(['variables=[', 'extensions={', 'variables=%00'])(
    'by GET with %s is the caller’s mistake',
    async (param) => {
      const response = await fetch(`${app.url}/graphql?query={__typename}&${param}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
    },
  );

  test('with thousands of wrong variables is answered with less than it has sent', async () => {
    const input = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`wrong${index}`, index]));
    const variables = { input };
    const { body } = await app
      .client(null)
      .send(
        'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { __typename } }',
        variables,
      );
    expect(body.errors[0].message).toContain('$input');
    expect(JSON.stringify(body).length).toBeLessThan(JSON.stringify(variables).length);
  });

  test('for GraphiQL is for no frame', async () => {
    const { headers } = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(headers.get('x-frame-options')).toBe('DENY');
  });
});
