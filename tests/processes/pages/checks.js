/* What is wrong with the page that is shown, a line for each fault; `asked` says what is looked at. */
(asked) => {
  const MODAL = "a[href], button, summary, select, textarea, input:not([type=hidden])";
  const named = (element) => `${element.tagName.toLowerCase()}${element.id && `#${element.id}`} ` +
    `.${element.className} “${(element.textContent || element.value || "").trim().slice(0, 40)}”`;
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    element.getBoundingClientRect().width > 1;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown);
  const isOfSelect2 = (element) => element.closest(".select2-container") !== null;

  const spoken = (element) => [
    element.getAttribute("aria-label"),
    element.title,
    element.alt,
    ["submit", "button", "reset"].includes(element.type) && element.tagName === "INPUT" ? element.value : "",
    ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) ? "" : element.textContent,
    ...[...element.querySelectorAll("img[alt], [title]")].map((inner) => inner.alt || inner.title),
    ...[...(element.labels || [])].map((label) => label.textContent + [...label.querySelectorAll("img")].map((i) => i.alt)),
    ...(element.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent),
  ].join("").trim();

  const labels = () => all(MODAL)
    .filter((element) => !isOfSelect2(element) && !spoken(element))
    .map((element) => `has no name: ${named(element)}`);

  /* Of elements that are styled alike one is enough. */
  const kinds = (elements) => [...new Map(elements.map((element) => [
    [element, element.parentElement, element.parentElement.parentElement]
      .map((each) => `${each.tagName}.${each.className}.${each.type || ""}`).join(" "),
    element,
  ])).values()];
  const look = (element) => {
    const { outline, boxShadow, border, backgroundColor, textDecoration, color } = getComputedStyle(element);
    return JSON.stringify([outline, boxShadow, border, backgroundColor, textDecoration, color]);
  };
  const around = (element) => [element, element.parentElement, ...element.querySelectorAll("*")].map(look).join();

  const keyboard = () => {
    const clickable = all(MODAL).filter((element) => !element.disabled && !isOfSelect2(element));
    const reached = kinds(clickable).flatMap((element) => {
      document.activeElement.blur();
      const before = around(element);
      element.focus({ focusVisible: true, preventScroll: true });
      if (document.activeElement !== element || element.tabIndex < 0) return [`cannot be focused: ${named(element)}`];
      return around(element) === before ? [`shows no focus: ${named(element)}`] : [];
    });
    const pointed = all("#content *")
      .filter((element) => getComputedStyle(element).cursor === "pointer" && !isOfSelect2(element))
      .filter((element) => !element.closest(`${MODAL}, label, [tabindex]`))
      .map((element) => `is clicked and no key reaches it: ${named(element)}`);
    document.activeElement.blur();
    return [...reached, ...pointed];
  };

  const parsed = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return { rgb: [red, green, blue], alpha };
  };
  const over = ({ rgb, alpha }, ground) => rgb.map((part, index) => part * alpha + ground[index] * (1 - alpha));
  const ground = (element) => element === null
    ? [255, 255, 255]
    : over(parsed(getComputedStyle(element).backgroundColor), ground(element.parentElement));
  const luminance = (rgb) => rgb
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);

  const contrast = () => kinds(all("#content *").filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()) &&
    !element.matches(":disabled, option"))).flatMap((element) => {
    const behind = ground(element);
    const text = over(parsed(getComputedStyle(element).color), behind);
    const [light, dark] = [luminance(text), luminance(behind)].sort((one, other) => other - one);
    const ratio = (light + 0.05) / (dark + 0.05);
    return ratio < 4.5 ? [`has a contrast of ${ratio.toFixed(2)}: ${named(element)}`] : [];
  });

  const overflow = () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = all("body *").filter((element) => element.getBoundingClientRect().right > clientWidth + 1);
    return [`is ${scrollWidth} wide on ${clientWidth}: ${wide.slice(0, 3).map(named).join(", ")}`];
  };

  document.getAnimations().forEach((animation) => animation.finish()); // a link takes its time to change its colour
  return asked.flatMap((what) => ({ labels, keyboard, contrast, overflow })[what]());
}
