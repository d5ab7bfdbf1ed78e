// The key of `meshwright ui`: it comes behind # in the address, is taken off it, and lives as long as the tab. A tab
// without one asks the others of this address.
import {useKey} from './api.js';

const NAME = 'meshwright-key';
const channel = new BroadcastChannel(NAME);
export const heldKey = () => sessionStorage.getItem(NAME);

function keep(key) {
  sessionStorage.setItem(NAME, key);
  useKey(key);
}

channel.addEventListener('message', ({data}) => {
  if (data === 'who has it?' && heldKey()) channel.postMessage({key: heldKey()});
});

export function takeKeyFromAddress() {
  const match = /^#key=([^&]*)&?(.*)$/.exec(location.hash);
  if (match) {
    keep(decodeURIComponent(match[1]));
    history.replaceState(null, '', `#${match[2] || 'plan'}`);
  } else if (heldKey()) {
    useKey(heldKey());
  }
}

// Whether another tab had a key that this one lacked.
export function askOtherTabs() {
  return new Promise((resolve) => {
    const done = (found) => {
      channel.removeEventListener('message', hear);
      resolve(found);
    };
    const hear = ({data}) => {
      if (!data?.key || data.key === heldKey()) return;
      keep(data.key);
      done(true);
    };
    channel.addEventListener('message', hear);
    channel.postMessage('who has it?');
    setTimeout(done, 300, false);
  });
}
