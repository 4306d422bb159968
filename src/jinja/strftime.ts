/** Wall-clock time without a zone. */
export interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly microsecond: number;
}

/** The local time of the process at a moment in milliseconds since the epoch. */
export function localTime(epochMs: number): LocalTime {
  const date = new Date(epochMs);
  return {
    year: date.getFullYear(),
    month: date.getMonth() + 1,
    day: date.getDate(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
    microsecond: date.getMilliseconds() * 1000,
  };
}

const LOCAL_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?$/;

/** Reads `YYYY-MM-DD[THH:MM[:SS[.ffffff]]]`; `null` for anything else. */
export function parseLocalTime(text: string): LocalTime | null {
  const match = LOCAL_TIME.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > new Date(Date.UTC(year, month, 0)).getUTCDate() ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  )
    return null;
  return { year, month, day, hour, minute, second, microsecond: Number((match[7] ?? '').padEnd(6, '0')) };
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAY_MS = 86_400_000;

/** `datetime.strftime` with glibc's directives and padding flags (`-`, `_`, `0`, `^`, `#`) in the C locale. */
export function strftime(time: LocalTime, format: string): string {
  return format.replace(/%([-_0^#]*)(\d*)([EO]?)([\s\S])/gu, (whole, flags: string, width: string, _modifier: string, letter: string) => {
    const part = directive(time, letter);
    if (part === null) return whole;
    return padded(part, flags, width === '' ? null : Number(width));
  });
}

type Part = string | readonly [value: number, width: number, fill: '0' | ' '];

function padded(part: Part, flags: string, width: number | null): string {
  let text: string;
  if (typeof part === 'string') text = width === null ? part : part.padStart(width, flags.includes('0') ? '0' : ' ');
  else {
    const [value, natural, fill] = part;
    const filler = flags.includes('0') ? '0' : flags.includes('_') ? ' ' : fill;
    text = flags.includes('-') ? String(value) : String(value).padStart(width ?? natural, filler);
  }
  return flags.includes('^') || flags.includes('#') ? text.toUpperCase() : text;
}

function directive(time: LocalTime, letter: string): Part | null {
  const moment = new Date(Date.UTC(2000, time.month - 1, time.day));
  moment.setUTCFullYear(time.year, time.month - 1, time.day);
  const weekday = moment.getUTCDay();
  const firstDay = new Date(moment);
  firstDay.setUTCMonth(0, 1);
  const yearDay = Math.round((moment.getTime() - firstDay.getTime()) / DAY_MS);
  const two = (value: number): Part => [value, 2, '0'];
  const hour12 = time.hour % 12 === 0 ? 12 : time.hour % 12;
  switch (letter) {
    case 'Y':
      return [time.year, 0, '0'];
    case 'C':
      return two(Math.floor(time.year / 100));
    case 'y':
      return two(time.year % 100);
    case 'm':
      return two(time.month);
    case 'd':
      return two(time.day);
    case 'e':
      return [time.day, 2, ' '];
    case 'H':
      return two(time.hour);
    case 'k':
      return [time.hour, 2, ' '];
    case 'I':
      return two(hour12);
    case 'l':
      return [hour12, 2, ' '];
    case 'M':
      return two(time.minute);
    case 'S':
      return two(time.second);
    case 'f':
      return String(time.microsecond).padStart(6, '0');
    case 'p':
      return time.hour < 12 ? 'AM' : 'PM';
    case 'P':
      return time.hour < 12 ? 'am' : 'pm';
    case 'A':
      return DAYS[weekday]!;
    case 'a':
      return DAYS[weekday]!.slice(0, 3);
    case 'B':
      return MONTHS[time.month - 1]!;
    case 'b':
    case 'h':
      return MONTHS[time.month - 1]!.slice(0, 3);
    case 'j':
      return [yearDay + 1, 3, '0'];
    case 'w':
      return [weekday, 0, '0'];
    case 'u':
      return [weekday === 0 ? 7 : weekday, 0, '0'];
    case 'U':
      return two(Math.floor((yearDay + 7 - weekday) / 7));
    case 'W':
      return two(Math.floor((yearDay + 7 - ((weekday + 6) % 7)) / 7));
    case 'G':
      return [isoWeek(moment)[0], 0, '0'];
    case 'g':
      return two(isoWeek(moment)[0] % 100);
    case 'V':
      return two(isoWeek(moment)[1]);
    case 'D':
    case 'x':
      return strftime(time, '%m/%d/%y');
    case 'F':
      return strftime(time, '%Y-%m-%d');
    case 'T':
    case 'X':
      return strftime(time, '%H:%M:%S');
    case 'R':
      return strftime(time, '%H:%M');
    case 'r':
      return strftime(time, '%I:%M:%S %p');
    case 'c':
      return strftime(time, '%a %b %e %H:%M:%S %Y');
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '%':
      return '%';
    case 'z':
    case 'Z':
      return '';
    default:
      return null;
  }
}

function isoWeek(moment: Date): [year: number, week: number] {
  const thursday = new Date(moment.getTime() + (3 - ((moment.getUTCDay() + 6) % 7)) * DAY_MS);
  const start = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return [thursday.getUTCFullYear(), 1 + Math.floor((thursday.getTime() - start) / DAY_MS / 7)];
}
