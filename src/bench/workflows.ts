/** The product's workflows and the floor they are compared with, in one bundle: every row runs on the same worker. */
export * from '../../workflows';
export { floor } from './floor';
