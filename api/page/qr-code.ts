import type { RequestHandler } from 'express';
import qrcode from 'qrcode-generator';
import { findPayable, type PageContext } from './handlers';
import type { Payable } from './payable';

/** Corrects 15 % of damage: enough for paper. */
const ERROR_CORRECTION = 'M';
/** The quiet zone that the standard asks for, in modules. */
const MARGIN = 4;

/**
 * Answers the address of a payable's page as a QR code, in SVG (rules 19.12). `public_url` without a slash at its end.
 */
export function showQrCode<P extends Payable>(context: PageContext<P>, public_url: string): RequestHandler {
  return async (request, response) => {
    const { path } = await findPayable(context, request);
    const code = qrcode(0, ERROR_CORRECTION);
    code.addData(public_url + path);
    code.make();
    response.set({
      // The merchant's own pages and mails show it.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'Cache-Control': 'public, max-age=86400',
    });
    response.type('svg').send(code.createSvgTag({ cellSize: 1, margin: MARGIN, scalable: true }));
  };
}
