// The icons of buttons, drawn as lines in the colour of the text, and the page's own icon beside the title.

const lines = {
  plus: "M12 5v14M5 12h14",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v5M13.5 11v5",
  close: "m6 6 12 12M18 6 6 18",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  down: "m7 10 5 5 5-5",
  warning: "M12 4 2.8 20h18.4zM12 10v4.5M12 17.3v.2",
};

export function Icon({ name }: { name: keyof typeof lines }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={lines[name]} />
    </svg>
  );
}

export function Mark() {
  return <img class="mark" src={document.querySelector<HTMLLinkElement>("link[rel=icon]")?.href} alt="" />;
}
