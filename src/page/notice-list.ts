// Short messages for the user: what was done or what went wrong.

export interface Notice {
  readonly key: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action: NoticeAction | undefined;
  /** Returns true when the message is no longer true or of no use any more. */
  readonly isOver: () => boolean;
}

export interface NoticeAction {
  readonly label: string;
  readonly run: () => void;
  /** Called when the message is closed without the action. */
  readonly onClose?: () => void;
  /** If the user edits this item, or if it is deleted, the message is closed: its action is of no use then. */
  readonly itemId?: string;
  /** True if the action undoes an edit of the list. */
  readonly undoes?: boolean;
}

const noticesMax = 3;

/** True if a message does not disappear after a while: a problem with a button. */
export function stays({ kind, action }: Notice): boolean {
  return kind === "problem" && action !== undefined;
}

export class NoticeList {
  readonly #onChange: () => void;
  #notices: readonly Notice[] = [];
  #key = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get all(): readonly Notice[] {
    return this.#notices;
  }

  /**
   * Adds a message and returns its key. An older message with the same text and no action is closed. If there are more
   * than `noticesMax` messages, one is closed: the oldest that would disappear by itself, otherwise the oldest.
   */
  add(kind: Notice["kind"], text: string, action?: NoticeAction, isOver = () => false): number {
    const key = this.#key++;
    const same = this.#notices.find((notice) => notice.text === text && !notice.action);
    const oldest = this.#notices.find((notice) => !stays(notice)) ?? this.#notices[0];
    this.#notices = [...this.#notices, { key, kind, text, action, isOver }];
    if (same) this.close(same.key);
    else if (oldest && this.#notices.length > noticesMax) this.close(oldest.key);
    else this.#onChange();
    return key;
  }

  close(key: number): void {
    this.withdraw(key)?.action?.onClose?.();
  }

  /** Closes the messages that are over. */
  closeOver(): void {
    for (const { key, isOver } of this.#notices) if (isOver()) this.close(key);
  }

  /** Closes the messages whose action names this item. */
  closeAbout(itemId: string): void {
    for (const { key, action } of this.#notices) if (action?.itemId === itemId) this.close(key);
  }

  /** Removes the message and runs its action. */
  act(key: number): void {
    this.withdraw(key)?.action?.run();
  }

  /** Removes a message without calling any of its functions. Returns undefined if it is not there any more. */
  withdraw(key: number): Notice | undefined {
    const found = this.#notices.find((notice) => notice.key === key);
    this.#notices = this.#notices.filter((notice) => notice !== found);
    this.#onChange();
    return found;
  }
}
