import { RECOMMENDED_NODE, nodeAdvice } from '../../../src/stack/node-version';
import { textOfFile } from '../../guards/repository';

it.each([
  ['20.19.0', 'runs on Node 20.19.0; Node 24 is recommended'],
  ['24.0.0', undefined],
  ['26.1.0', undefined],
])('Node %s: %s', (version, advice) => {
  expect(nodeAdvice(version)).toBe(advice);
});

it('image, README and package.json name the recommended and the oldest supported Node', () => {
  const images = [...textOfFile('Dockerfile').matchAll(/^FROM node:(\d+)\./gm)].map(([, major]) => Number(major));
  expect(new Set(images)).toEqual(new Set([RECOMMENDED_NODE]));
  const { engines } = JSON.parse(textOfFile('package.json')) as { engines: { node: string } };
  const oldest = engines.node.replace('>=', '');
  expect(textOfFile('README.md')).toContain(`Node ${RECOMMENDED_NODE} is recommended; ${oldest} and newer work.`);
});
