import { epochMsSql } from '../columns';
import { hasRows, queryRow, queryRows, type Database } from '../query';

/** What `npm run build` has made. */
export interface Build {
  /** The version of the service and a hash of its code and packages. */
  build: string;
  /** The build id in Temporal: the version of the service and a hash of its workflows, or TEMPORAL_WORKER_BUILD_ID. */
  version: string;
  /** Epoch milliseconds. */
  built_at: number;
}

/** The build whose workers do the work of leases and schedules. */
export interface CurrentBuild {
  /** `null`: no worker of the version has started since an operator chose it. */
  build: string | null;
  version: string;
  since: number;
}

/** A build whose workers hold no lease for this long is taken for removed. */
const REMOVED_AFTER = `interval '10 minutes'`;
/**
 * Whether workers of the current build have held a lease lately. What is further ahead was written while the clock was
 * ahead, and does not count: otherwise an older build would wait until the corrected clock has caught up.
 */
const HAS_WORKERS = `exists (
  select from (
    select current_build.seen_at as at union all
    select expires_at from leases where leases.build = current_build.build
  ) as seen
  where at between clock_timestamp() - ${REMOVED_AFTER} and clock_timestamp() + ${REMOVED_AFTER})`;

/**
 * Makes a build the current one, if it is newer, or if the current one has no workers any more. Returns whether it is
 * the current one. `any_version: false`: only a build of the version that is current; an operator chooses the version.
 * Repeat-safe.
 */
export async function claimCurrentBuild(
  db: Database,
  build: Build,
  { any_version }: { any_version: boolean },
): Promise<boolean> {
  if ((await findCurrentBuild(db))?.build === build.build) return true;
  return await hasRows(
    db,
    `insert into current_build (build, version, built_at, since, seen_at)
     values (:build, :version, to_timestamp(:built_at / 1000.0), clock_timestamp(), clock_timestamp())
     on conflict (is_only) do update set build = excluded.build, version = excluded.version,
       built_at = excluded.built_at, since = excluded.since, seen_at = excluded.seen_at
     where (:any_version or current_build.version = excluded.version)
       and (current_build.built_at is null or current_build.built_at < excluded.built_at or not ${HAS_WORKERS})
     returning build`,
    { ...build, any_version },
  );
}

/**
 * Makes a version current, whatever is newer. With `build` the workers of that build do the work of leases, otherwise
 * those of the version's newest build.
 */
export async function setCurrentVersion(db: Database, version: string, build?: Build): Promise<void> {
  await queryRows(
    db,
    `insert into current_build (build, version, built_at, since, seen_at)
     values (:build, :version, to_timestamp(cast(:built_at as float8) / 1000), clock_timestamp(), clock_timestamp())
     on conflict (is_only) do update set build = excluded.build, version = excluded.version,
       built_at = excluded.built_at, since = excluded.since, seen_at = excluded.seen_at
     where current_build.version <> excluded.version or current_build.build is distinct from excluded.build
       and excluded.build is not null`,
    { version, build: build?.build ?? null, built_at: build?.built_at ?? null },
  );
}

/** The current build; `undefined` before the first start of a worker. */
export async function findCurrentBuild(db: Database): Promise<CurrentBuild | undefined> {
  return await queryRow<CurrentBuild>(db, `select build, version, ${epochMsSql('since')} as since from current_build`);
}
