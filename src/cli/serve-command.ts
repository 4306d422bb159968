import type { Command } from 'commander';
import type { Settings } from '../config.js';
import { RolloutGateway } from '../gateway.js';
import { createLog } from '../telemetry/log.js';
import type { CommandHost } from './command-host.js';
import { addSettingOptions, settingsOf } from './setting-options.js';

const LOOK_MS = 500;

export const define = (command: Command, host: CommandHost): void => {
  addSettingOptions(command)
    .addHelpText('after', '\nEvery setting is also an environment variable: --sessions-implicit is ROLLOUT_GATEWAY_SESSIONS_IMPLICIT.')
    .action(() => serve(settingsOf(command, host.env), host));
};

/**
 * Serves until the host is asked to stop, then drains. The first line on stdout says where it listens. An engine that is down or still
 * loading is said in the log and waited for.
 * @throws GatewayError `setting_invalid`, `port_taken`, `model_files`
 */
const serve = async (settings: Settings, host: CommandHost): Promise<void> => {
  const log = createLog(settings.log.level, 'main');
  const stopped = host.stopped();
  const gateway = new RolloutGateway(settings, host.env);
  const { url } = await gateway.start();
  host.out(`listening on ${url}\n`);
  let said: string | null | undefined;
  const look = (): void => {
    const { problem } = gateway.readiness;
    if (problem === said) return;
    if (problem === null) log.info({ url }, 'ready');
    else log.warn({ problem }, 'not ready, waiting');
    said = problem;
  };
  // The first look waits until the engine was asked.
  const looking = setInterval(look, LOOK_MS);
  const reason = await stopped;
  clearInterval(looking);
  log.info({ reason, drainMs: settings.shutdown.drainMs }, 'stopping');
  await gateway.close();
  log.info('stopped');
};
