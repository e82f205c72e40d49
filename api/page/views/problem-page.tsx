import type { Texts } from '../languages';
import { SignIcon } from './icons';
import { Layout, type Frame } from './layout';

/** What is wrong with the request, in words for a customer. */
export function ProblemPage(props: Frame & { problem: keyof Texts['problems']; page: string | undefined }) {
  const { problem, page, reader } = props;
  const { texts } = reader;
  const { heading, detail } = texts.problems[problem];
  return (
    <Layout {...props} title={heading}>
      <div class="sheet message">
        <span class="sign bad">
          <SignIcon sign="cross" />
        </span>
        <h1>{heading}</h1>
        <p class="lead">{detail}</p>
        {page !== undefined && (
          <a class="button" href={page}>
            {texts.open_again}
          </a>
        )}
      </div>
    </Layout>
  );
}
