# One image for every process, `node dist/src/main/{api,manage,worker,simulator,codec,migrate,admin}.js` (docker-compose.yml names which),
# and for two commands: bundle.js builds the workflows' code, replay.js refuses it when recorded workflows could not go on with it. Two
# more targets are for backups: `postgres` and `backup`.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY workflows workflows
COPY activities activities
COPY api api
RUN npm run build
# A worker starts without webpack, and never with another bundle than the one that was built here.
RUN node dist/src/main/bundle.js
# Orders on their way must be able to go on with it: their kept histories are replayed, or there is no image.
COPY test/histories test/histories
RUN node dist/src/main/replay.js test/histories

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional packages are the embedded servers of `npm start`: the deployment has real ones.
RUN npm ci --omit=dev --omit=optional

# PostgreSQL with pgBackRest, which its archive_command calls.
FROM postgres:18.4 AS postgres
RUN apt-get update && apt-get install --yes --no-install-recommends pgbackrest && rm -rf /var/lib/apt/lists/*
RUN install --directory --owner=postgres --group=postgres --mode=750 /var/lib/pgbackrest /var/lib/backup-check

# Makes backups, and checks them with the command line of the service.
FROM postgres AS backup
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json package-lock.json LICENSE ./
USER postgres

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# The lock file is part of the workflow bundle's name: a worker without it would not find the one built above.
COPY package.json package-lock.json LICENSE ./
USER node
EXPOSE 3000 3001 3002 3003
CMD ["node", "dist/src/main/api.js"]
