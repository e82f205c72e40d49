import { Router } from 'express';

/** Documentation of the API. */
export function docs(): Router {
  return Router();
}
