import { type Command, Option } from 'commander';
import { type NamedSetting, SETTINGS, type Settings } from '../config.js';
import { loadSettings } from '../config-load.js';

const PLACEHOLDERS: Readonly<Record<NamedSetting['setting']['kind'], string>> = {
  integer: '<integer>',
  number: '<number>',
  boolean: '[boolean]',
  text: '<text>',
  choice: '<choice>',
  list: '<url>',
  json: '<json>',
};

const shownDefault = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const optionOf = ({ name, option, path, setting }: NamedSetting): Option => {
  const isPlain = setting.kind === 'integer' || setting.kind === 'number' || setting.kind === 'choice';
  const bounds = isPlain ? ` (${setting.bounds})` : '';
  const fallback =
    setting.default === null || (Array.isArray(setting.default) && setting.default.length === 0)
      ? ''
      : ` [${shownDefault(setting.default)}]`;
  const made = new Option(`--${option} ${PLACEHOLDERS[setting.kind]}`, `${setting.meaning}${bounds}${fallback}`);
  made.helpGroup(path.length > 1 ? `Settings ${path[0]}.*:` : 'Settings:');
  if (setting.kind === 'list') made.argParser((value, before: readonly string[] | undefined) => [...(before ?? []), value]);
  return setting.hidden || name.startsWith('test.') ? made.hideHelp() : made;
};

/** Adds the options of these settings, or of all, to a command. */
export const addSettingOptions = (command: Command, names?: readonly string[]): Command => {
  for (const named of SETTINGS) if (names === undefined || names.includes(named.name)) command.addOption(optionOf(named));
  return command.addOption(
    new Option('--config <file>', 'JSON file with settings as nested objects; the command line and the environment win'),
  );
};

/** The settings that a command was given. @throws GatewayError `setting_invalid` */
export const settingsOf = (command: Command, env: Readonly<Record<string, string | undefined>>): Settings => {
  const given = command.opts<Record<string, unknown>>();
  const flags: Record<string, unknown> = {};
  for (const option of command.options) {
    const name = option.long?.slice(2) ?? '';
    if (SETTINGS.some((named) => named.option === name)) flags[name] = given[option.attributeName()];
  }
  return loadSettings({ flags, env, ...(typeof given.config === 'string' ? { file: given.config } : {}) });
};
