Kohoutek v kuchyni zase kape.
Kdo nechal otevřené okno?
Tady se prosím zujte.
To je ale pohodlná pohovka!
Nikdy jsem nežehlil košili.
Amina každý večer před večeří zalévá květiny na balkoně.
Za dveřmi koupelny leží hromada čistých ručníků.
Naše pračka, kterou jsme koupili v roce 2009, pořád funguje bezvadně.
Nezapínej myčku, dokud nebude úplně plná.
Mohl bys pověsit zrcadlo o něco výš než lampu?
Budík mi zvoní v 6:15, ale vstávám později.
Závěsy ušila Zofia z druhého patra.
Nemáme koupit další deky pro případ, že dnes v noci vypadne topení?
Proč máš náhradní klíče schované v květináči?
Než se rodiče vrátili domů, Diego zametl podlahu, vynesl odpadky a ustlal postele.
Nový koberec byl sice drahý, ale obývací pokoj díky němu v zimě působí mnohem tepleji.
Když ve 21:40 vypadla elektřina, zapálili jsme svíčky a vyprávěli si staré příběhy.
Říká, že půda je plná krabic, které nikdo neotevřel od chvíle, kdy se přestěhovali do Lisabonu.
Stěny ložnice jsme vymalovali světle zelenou barvou, protože ta stará šedá všechny skličovala.
„Neviděli jste někde moje brýle?“ zeptal se dědeček, který je měl na čele.
Nejmenší pokoj v našem bytě má jen 6 metrů čtverečních, a přesto je z něj nejhezčí výhled.
Od té doby, co Olena začala pracovat z domova, udělala z jídelního stolu psací a celá rodina teď jí v kuchyni.
Nůžky jsem dal do horní zásuvky, aby na ně děti nedosáhly, ale teď si nemůžu vzpomenout, ve kterém pokoji to bylo.
Truhlář ze Salcburku, který nám minulý měsíc opravil schody, nám řekl, že dřevo je starší než samotný dům a mělo by se ošetřit olejem.
Žebřík si můžeš půjčit, kdykoli chceš, pokud ho vrátíš do garáže a zamkneš za sebou dveře.
Do té polévky je potřeba víc soli.
Je ten chléb ještě teplý?
Nejdřív oloupej brambory.
Tvoje knedlíčky jsou ale výborné!
Houbového salátu se nikdo ani nedotkl.
Yuki má raději zelený čaj než kávu, zvlášť ráno.
Koláč pečte 45 minut a nechte ho pomalu vychladnout.
Máslo už došlo, a tak jsem použila olivový olej.
Nejlepší pomeranče na trhu pocházejí z vesnice nedaleko Valencie.
Chceš rybu grilovanou, nebo smaženou s česnekem?
Tyhle nudle se dělají ručně z mouky, vody a vajec.
Když přidáš příliš mnoho octa, omáčka bude moc kyselá.
Moje teta Beatriz nejí maso od svých 19 let.
Kolik gramů cukru dáváš do tohohle džemu?
V malé restauraci v Hanoji jsme za misku vynikající hovězí polévky zaplatili jen 4 eura.
Zatímco se vařila rýže, Tariq krájel cibuli a snažil se neplakat.
Kuchař z Bangkoku vysvětlil, že čerstvé bylinky se mají přidávat až úplně na konci.
Sýr, který je nejvíc cítit, nemá vždycky nejvýraznější chuť.
Přestože recept vypadal jednoduše, příprava náplně nám zabrala 3 hodiny.
Nevíš, jestli se tyhle bobule dají jíst syrové, nebo se musí nejdřív uvařit?
Aby zelenina zůstala křupavá, krátce ji povařte ve vroucí vodě a pak ji ponořte do studené.
Když si Fatima v roce 1998 otevřela v Casablance pekárnu, prodávala jen jeden druh chleba, ale dnes jich nabízí víc než 30.
Hosté už dojedli dezert, když se číšník vrátil a oznámil, že hlavní chod, který si objednali, je konečně hotový.
Čokoláda se rozpouští rovnoměrněji, když se naláme na malé kousky a zahřívá nad horkou vodou, místo aby se postavila přímo na sporák.
Můj dědeček říkával, že dobré rajče nepotřebuje nic než špetku soli, krajíc chleba a někoho, s kým se o ně člověk může podělit.
Moje sestry dvojčata se málokdy hádají.
Je Chidi tvůj mladší bratr?
Zavolej dnes večer mámě.
Tolik se nám po tobě stýská!
Zasnoubili se v Praze.
Lucia je nejmladší ze 7 sestřenic a ze všech nejvyšší.
Moji rodiče jsou manželé už 42 let.
Kdo se postará o miminko, až budeš pryč?
Pavel svému bratrovi odpustil, přestože spolu léta nemluvili.
Vychovala mě babička na vesnici nedaleko Tbilisi.
Nelži svým dětem, ani v maličkostech.
Nevlastní otec ho naučil plavat a jezdit na kole.
Kdybys měla dceru, pojmenovala bys ji po své pratetě?
Na svatbě bylo 85 hostů a skoro všichni tančili.
Ingrid a Kwame se seznámili v roce 2016 ve vlaku a od té doby jsou nerozluční.
„V tomhle domě budeš mít vždycky svůj pokoj,“ řekl otec, když jsem odcházel.
Posílá tvůj strýc na Nový rok pořád všem svým synovcům a neteřím ručně psané dopisy?
Moje sestřenice, která žije v Buenos Aires, mluví s naší babičkou každou neděli přes video.
Přiznala, že už od dětství žárlila na sestřiny úspěchy.
Po rozvodu zůstali ti dva přáteli, protože chtěli, aby byl jejich syn šťastný.
Čím je Mehmet starší, tím víc se podobá svému zesnulému dědečkovi, jak vzhledem, tak povahou.
Naši sousedé adoptovali 5letého chlapce, který zpočátku skoro nemluvil, ale teď plní jejich domov otázkami a smíchem.
Když Priyin manžel přišel o práci, její rodiče pozvali celou rodinu, aby u nich bydlela, dokud si on nenajde jinou.
Teprve na pohřbu jsme se dozvěděli, že naše prababička byla pilotka a že kdysi sama přeletěla Andy.
Zeptala jsem se své nejlepší kamarádky, proč mi nikdy neřekla o své nemoci, a ona odpověděla, že nestála o můj soucit.
Zítra ráno bude sněžit.
To je ale nádherný západ slunce!
Už je jezero zamrzlé?
Mlha se konečně zvedla.
Netrhejte tyto vzácné květiny.
Amazonka nese víc vody než kterákoli jiná řeka.
Minulou noc teplota klesla na 14 stupňů pod nulou.
Protože celé měsíce nepršelo, studna vyschla.
Na druhé straně této hory jsou horké prameny.
Vítr strhl střechu z Faridiny stodoly.
Jestli se mraky rozestoupí, možná dnes v noci uvidíme polární záři.
Která poušť je nejsušší na světě?
Zežloutlo už ve vilniuských parcích listí?
Poslouchej, jak tiše teče potok mezi kameny!
Kilimandžáro, jehož vrchol pokrývá sníh, se tyčí nad horkými pláněmi Tanzanie.
Podle předpovědi je dnes odpoledne na pobřeží 80% pravděpodobnost bouřek.
Jakmile bouře přešla, vesničané vyšli odklidit ze silnice popadané větve.
Proč tady moře vypadá zelené, zatímco u ostrova je sytě modré?
Sopka na ostrově vybuchla v roce 1973 a pohřbila téměř 400 domů pod silnou vrstvou popela.
Přestože jaro začalo před 2 týdny, pole kolem Minsku jsou stále bílá a zmrzlá.
Vědci hlásí, že ledovec taje rychleji, než předpovídali ještě před několika lety.
Před úsvitem jsme vystoupili na vrchol kopce, abychom se podívali, jak nad údolím vychází slunce, ale mlha všechno zakryla.
Dubu před kostelem je prý 600 let a jeho kmen je tak silný, že ho 5 lidí sotva obejme.
Za monzunu se Ganga zvedne tak vysoko, že lidé, kteří žijí na jejích březích, musí někdy na celé týdny opustit své domovy.
Kde budou na své dlouhé cestě odpočívat ptáci, kteří v deltě zimují, jestli nikdo neochrání mokřady kolem ní?
Markův pes se bojí hromů.
Spí netopýři opravdu hlavou dolů?
Nekrmte opice!
Sloni mají pozoruhodně dobrou paměť.
Naše slepice snáší hnědá vejce.
Plejtvák obrovský může vážit přes 150 tun.
Pod střechou nádraží je vlaštovčí hnízdo.
Hadi neslyší tak jako lidé, ale vnímají otřesy.
Nikdo neví, jak se liška dostala do muzea v Krakově.
Ztracené štěně našel o 2 dny později listonoš.
Které zvíře běhá rychleji, kůň, nebo pštros?
Camila má papouška, který napodobuje zvonění telefonu.
Utečou ti jeleni, když se k nim budeme blížit pomalu?
Než zemědělci zaseli jetel, včely z tohoto údolí zmizely.
Nejstarší želva v zoo se narodila v roce 1889 a stále si pochutnává na čerstvém salátu.
Vlci byli do parku vráceni, aby se počet jelenů přirozeně snížil.
Tučňáci sice neumějí létat, ale plavou lépe než většina ostatních ptáků na světě.
Veterinář řekl Nikolajovi, že se jeho kůň uzdraví, pokud bude 6 týdnů odpočívat.
Věděl jsi, že chobotnice má 3 srdce a že její krev je modrá?
Zatímco kočka spala na parapetu, vrabec jí ukradl drobky z misky.
Klokani, kteří žijí jen v Austrálii a na Nové Guineji, nosí mláďata ve vaku.
Každé jaro dobrovolníci z vesnice přenášejí v kbelících přes silnici asi 900 žab, protože příliš mnoho jich zahyne pod koly aut.
Pastýř zapískal a pes, který ležel v trávě, oběhl stádo a hnal ho k bráně.
„Tahle lvice žije už léta bez partnera,“ řekl strážce v Keni, „ale vychovala mláďata, která jiní lvi opustili.“
Když řeka zaplavila pastviny, převáželi zemědělci krávy lodí na vyšší místa, jedno zvíře po druhém, až do pozdní noci.
Vlak odjíždí v 18:30.
Ze kterého nástupiště odjíždí expres?
Připoutejte se, prosím.
Zmeškali jsme poslední trajekt na Zanzibar.
Můj kufr váží 23 kilogramů.
Let z Nairobi do Bombaje se zpozdil kvůli husté mlze.
Je levnější překročit hranici autobusem, nebo vlakem?
Za mostem zahni doleva a pokračuj 2 kilometry.
Hassan jezdí většinu života v Alexandrii s taxíkem.
Nebyla žádná volná místa, a tak jsme celou cestu stáli.
Nejdelší tunel na této železnici měří 57 kilometrů.
Kdybychom vyjeli dřív, nestáli bychom teď v zácpě.
Než jsme dorazili do přístavu, dvakrát nám zkontrolovali pasy.
Čí kolo je připoutané řetězem k plotu velvyslanectví?
Hotel, ve kterém jsme v Reykjavíku bydleli, měl bazén vyhřívaný horkými prameny.
Než si půjčíš auto, ujisti se, že pojištění kryje poškození pneumatik.
Anneke dojela vlakem z Moskvy do Vladivostoku za 7 dní a cestou přečetla 5 románů.
Přestože byla silnice zledovatělá, řidič odmítal zpomalit, dokud cestující nezačali protestovat.
Průvodčí oznámil, že vlak kvůli porouchanému návěstidlu na 20 minut zastaví.
Jak dlouho trvá dojít s těžkými zavazadly od katedrály do starého přístavu?
Zvolili jsme cestu přes hory, ne proto, že byla kratší, ale proto, že z ní byly krásnější výhledy.
Když Joaquin ve 4:50 přijel do Istanbulu, všechny směnárny byly zavřené, a tak šel do hotelu pěšky prázdnými ulicemi.
Kapitán ujistil cestující, že žádné nebezpečí nehrozí, přesto však nařídil posádce připravit záchranné čluny pro případ, že by bouře zesílila.
Pokud vaše zavazadlo nedorazí do 24 hodin, vyplňte tento formulář a letecká společnost vám je bezplatně doručí na vaši adresu.
Starý parník, který kdysi vozil po Dunaji poštu, byl přestavěn na plovoucí muzeum, které je celé léto otevřené návštěvníkům.
Knihovna zavírá ve 20:00.
Ta ulice je ale hlučná!
Jsou fontány v noci osvětlené?
V sobotu je tu zakázáno parkovat.
Zdá se, že Soul nikdy nespí.
Tam, kde kdysi stála továrna, bude otevřen nový park.
V roce 1960 byla v této čtvrti jen pole a sady.
Nájmy v naší čtvrti vzrostly od loňska o 12 %.
Proč jsou dnes všechny obchody na hlavním náměstí zavřené?
Zanele prodává turistům obrazy nedaleko přístavu v Kapském Městě.
Pouliční muzikanti hrají před operou, dokud se nesetmí.
Nejvyšší budova ve městě má 68 pater a žádné balkony.
Sejdeme se u sochy naproti radnici.
Přestěhoval by ses na předměstí, kdyby autobusy jezdily častěji?
Na místě kina, které Leila jako dítě milovala, je teď parkoviště.
Ačkoli je Tokio obrovské, v mnoha jeho postranních uličkách je ticho jako na vesnici.
Cyklisté v Kodani si stěžují, že na nových pruzích podél kanálu neustále parkují auta.
Mohl bys mi říct, který most vede na bleší trh na druhém břehu?
Každou sobotu prodávají zemědělci z okolních vesnic na náměstí med, sýr a květiny.
Když popeláři stávkovali už 9 dní, starosta souhlasil, že se s nimi sejde.
Za mešitou je maličké knihkupectví, kde si můžete vypít čaj a zdarma si číst.
Když byly loni na podzim vyměněny pouliční lampy v Zahradní ulici, obyvatelé říkali, že po letech poprvé zase vidí hvězdy.
Městské divadlo, které v roce 1987 poškodil požár, bylo obnoveno přesně v původní podobě, jen sedadla jsou pohodlnější.
Mateo se přestěhoval z klidného městečka v horách do Ciudad de México, protože chtěl studovat hudbu a být obklopen lidmi.
Město plánuje do roku 2030 vysadit 5000 stromů, aby i v těch nejteplejších ulicích bylo uprostřed léta trochu stínu.
Pošli Rose do poledne tu smlouvu.
Kdo objednal 600 obálek?
V tiskárně došel papír.
Nepovýšili mě.
Gratuluji k nové práci!
Naše schůzka byla přesunuta z úterý na čtvrtek na 10:30.
Sofia vede v Rotterdamu tým 14 inženýrů.
Na každém patře kromě našeho je kávovar.
Už sis uložil kopii výroční zprávy?
Faktury podepsala sama ředitelka.
Jestli zavolá klient, řekni mu, že jsem v bance.
Můj stůl je uklizenější než tvůj, ale ty máš lepší nápady.
Goran dal výpověď, protože jeho šéf nikdy nikoho neposlouchal.
Dostáváme za práci o státních svátcích příplatek?
Rashid pracuje v téže lodní společnosti v Dubaji od doby, kdy dostudoval univerzitu.
Účetní náhodou zjistila, že 3400 eur bylo převedeno nesprávnému dodavateli.
„Nikdo neodejde, dokud se tento problém nevyřeší,“ řekl vedoucí a zavřel dveře zasedací místnosti.
Zatímco se opravoval výtah, museli zaměstnanci každé ráno vyšlapat 11 pater.
Přestože je v oddělení nejmladší, všichni ji žádají o radu.
Siemens oznámil, že příští rok ve svém závodě vyškolí 250 mladých lidí.
Nevadilo by ti sdílet kancelář se stážisty, dokud neskončí rekonstrukce?
Kolegyně, která sedávala vedle mě, odešla z firmy, aby si otevřela malý hotel u moře, a já jí závidím.
Před fúzí mohli zaměstnanci 2 dny v týdnu pracovat z domova, ale nové vedení chce, aby byli všichni v kanceláři denně.
Při pohovoru v Torontu se Mei zeptali, proč tak často měnila práci, a ona odpověděla, že se snadno začne nudit.
Měli bychom buď přijmout víc lidí, nebo zákazníkům méně slibovat, protože ze současného množství práce jsou nemocní i ti nejtrpělivější z nás.
Otevřete si prosím sešity.
Zkouška trvá 90 minut.
Proč přišel Arjun pozdě na hodinu?
Geometrie mi připadala nezvládnutelná.
Naučila se číst sama.
Ve třídě je 27 žáků, ale jen 20 židlí.
Hiroshi se naučil hrát na housle, když mu bylo 6 let.
Umí někdo vysvětlit, proč led plave na vodě?
Škola byla pojmenována po básníkovi, který se narodil nedaleko.
Neopisuj odpovědi, snaž se pochopit otázku.
Udělal bys v červnu ten test, kdyby ses víc učil?
Nejtěžší cvičení v knize je na straně 118.
Naše učitelka chemie mluví tak tiše, že ji nikdo neslyší.
Můj synovec chce studovat medicínu na Boloňské univerzitě.
Protože jediná učitelka ve vesnici byla nemocná, učili starší žáci ty mladší.
Ayodele získala stipendium, díky kterému bude moci strávit 2 semestry v Montrealu.
Profesor pokus zopakoval, aby ho viděli i studenti vzadu.
Je pravda, že si děti pamatují písničky snáz než pravidla a seznamy letopočtů?
Díky večerním kurzům Ramon v 53 letech konečně získal závěrečné vysvědčení.
Ředitelka řekla, že od září budou mobilní telefony při vyučování zakázány.
Ačkoli se svahilsky učím od roku 2021, pořád dělám chyby, když mluvím rychle.
Když šla knihovnice do důchodu, žáci jí darovali album, do kterého každý z nich napsal název své oblíbené knihy.
Podle UNESCO miliony dětí po celém světě stále nechodí do školy a dívek se to týká častěji než chlapců.
„Co by se stalo, kdyby Měsíc najednou zmizel?“ zeptala se dívka jménem Aylin z první řady a celá třída se začala přít.
Studenti, kteří postavili solární auto, strávili na projektu 14 měsíců, a přestože nevyhráli, naučili se víc než na jakékoli přednášce.
Bolí tě ještě koleno?
Pij dnes hodně vody.
Jsem alergický na penicilin.
Rána se zahojila bez jizvy.
Horečka mu vystoupila na 40 stupňů.
Berte jednu tabletu každých 8 hodin, nejlépe po jídle.
Doktor Achebe léčí pacienty s malárií od roku 1995.
Není v zimě na ostrově žádná sanitka?
Nadia jednou ročně daruje krev u Červeného kříže.
Kuřáci se po operacích zotavují pomaleji než ostatní lidé.
Pokud se vyrážka rozšíří, okamžitě se vraťte na kliniku.
Jak se ti podařilo zlomit si ruku ve spánku?
Prohlédli mi zuby a vyměnili dvě staré plomby.
Chodí denně 30 minut pěšky, protože ji ze sezení bolí záda.
Sestra, která mi měřila tlak, mi řekla, abych zhluboka dýchal a přestal mluvit.
Světová zdravotnická organizace doporučuje, aby dospělí jedli méně soli a každý týden se více hýbali.
Přestože operace trvala 9 hodin, pacient dokázal ještě týž večer mluvit.
Musím se nechat očkovat proti žluté zimnici, když v Ghaně strávím jen 3 dny?
Vydatný noční spánek pomáhá tělu bojovat s infekcemi lépe než většina vitaminů, které se dají koupit.
Když Bogdan omdlel ve frontě, někdo cizí mu zvedl nohy a zavolal pomoc.
Lékárnice nás upozornila, že se tento sirup nemá podávat dětem do 4 let.
Thuy si nemohla dovolit léčbu v hlavním městě, a tak její sousedé vybírali peníze, dokud jich nebylo dost na cestu a nemocnici.
Výzkumníci v Melbourne vyzkoušeli nový lék na 320 dobrovolnících a zjistili, že u více než 60 % z nich zmírnil migrénu.
Jestli chceš přestat kouřit, řekni o tom přátelům, vyhoď popelníky a najdi si pro ruce nějakou jinou činnost.
Moje babička věří, že med a zázvor vyléčí každý kašel, kdežto moje sestra, která je lékařka, důvěřuje jen tomu, co bylo prokázáno.
Soudce odročil líčení.
Je tato dohoda právně závazná?
Svědci musí mluvit pravdu.
Pokuta činí 150 eur.
Podepište obě vyhotovení formuláře.
Ústava byla přijata v roce 1991 a dvakrát byla pozměněna.
Parlament má 120 členů, kteří se volí každé 4 roky.
Advokát požádal porotu, aby druhému svědkovi nevěřila.
Bez povolení nesmíte na tomto pozemku nic stavět.
Kdo má právo odvolat se proti tomuto rozhodnutí?
Daně v Norsku jsou vyšší než ve většině ostatních zemí.
Žádný zákon nezakazuje pěstovat na balkoně rajčata.
Pokud nájemce neplatí, může majitel nájemní smlouvu vypovědět.
Carmen se stala první ženou v čele soudu v Seville.
Před rokem 2005 museli občané pro nový pas jezdit do hlavního města.
Zloděj, který ukradl obraz, byl ve Vídni odsouzen ke 3 letům vězení.
Ministr prohlásil, že vláda letos věk odchodu do důchodu nezvýší.
Přestože podezřelý neměl právníka, policie ho vyslýchala dál až do půlnoci.
Potřebuji svědka, když na radnici hlásím narození svého dítěte?
Samira studuje práva, aby mohla hájit lidi, kteří si nemohou dovolit advokáta.
Evropská unie vyžaduje, aby výrobci na etiketě uváděli, odkud med pochází.
Soud rozhodl, že společnost musí vyplatit odškodnění všem zemědělcům, jejichž pole znečistila odpadní voda z její továrny.
Pokud starosta odstoupí před koncem roku, převezme úřad jeho zástupce, nebo se musí hned konat nové volby?
Podle článku 17 smějí být osobní údaje uchovávány jen po dobu, po kterou jsou potřebné, a na žádost vlastníka musí být vymazány.
„Nic jsem nepodepsala a nic jsem neslíbila,“ řekla Ivanka policistovi, který si přesto zapsal její jméno a požádal ji, aby počkala venku.
Jednání skončila bez dohody.
Odstoupí premiér?
Volební účast klesla na 48 %.
Hlasujte pro čistší řeky!
Dvě strany vytvořily koalici.
Prezident Alvarez navštíví koncem března Jakartu.
Stávka v hamburském přístavu vstoupila do druhého týdne.
Proč o tom skandálu informovalo tak málo novin?
Pokojného pochodu se zúčastnilo více než 7000 lidí.
Novou daň kritizovala opozice i odbory.
První televizní debata nepřinesla žádná překvapení.
Co se změní pro malé obchody, pokud zákon projde?
Senátorka Tanaková popřela, že by se s tím bankéřem kdy setkala.
Byly to nejtěsnější volby, jaké region zažil od roku 1978.
Organizace spojených národů vyslala 2 pozorovatele, aby dohlíželi na příměří podél hranice.
Novinářka, která aféru odhalila, dostala cenu, ale také přišla o práci.
Zatímco ministři jednali v Ženevě, před hotelem se pokojně shromáždili demonstranti.
Podle průzkumu zveřejněného v pondělí podporuje stavbu přehrady 54 % voličů.
Kdo podle tebe vyhraje prezidentské volby, pokud oba favorité odstoupí?
Mluvčí odmítl říct, zda budou rozhovory s povstalci po svátcích pokračovat.
Navzdory velkým ztrátám ve městech zvítězila vládní strana téměř ve všech venkovských okresech.
Místní rádio oznámilo, že most přes Mekong bude kvůli opravám uzavřen, ačkoli ministerstvo slíbilo, že ho nechá otevřený.
Guvernér, který slíbil postavit 40 nových škol, včera přiznal, že před jeho odchodem z úřadu jich bude dokončeno jen 15.
„Nepřišli jsme k moci proto, abychom se všem zalíbili,“ řekl novinářům premiér Haddad, „ale proto, abychom reformovali zdravotnictví.“
Po zemětřesení nabídly sousední země pomoc tak rychle, že první záchranné týmy přistály dřív, než bylo letiště oficiálně znovu otevřeno.
Komety tvoří převážně led a prach.
Proč dnes večer Měsíc vypadá větší?
Nikdy se nedívej přímo do Slunce.
To byl ale jasný meteor!
Díky heliu malé balonky rychle stoupají.
Saturnovy prstence jsou v porovnání se svou šířkou překvapivě tenké.
Leila v roce 2019 každé ráno měřila kyselost vody v jezeře.
Za jak dlouho by k nám dorazila zpráva z Marsu?
Krystaly se zcela rozpustí, když se kapalina zahřeje na 80 stupňů Celsia.
Kdyby byla gravitace slabší, stromy by pravděpodobně mohly dorůstat mnohem větší výšky.
Na Měsíci dnes žádné sopky nevybuchují.
Marie Curie-Skłodowská dostala Nobelovu cenu za fyziku i za chemii.
Ačkoli byl vzorek nepatrný, obsahoval stopy zlata.
Byla vakcína před schválením vyzkoušena na dobrovolnících v Nairobi?
Astronauti, kteří se minulý týden vrátili na Zemi, mohli po 6 měsících bez gravitace sotva chodit.
Profesor Okafor vysvětlil, že tyto bakterie přežívají, protože dokážou žít úplně bez kyslíku.
Když byl dalekohled v poušti Atacama opraven, objevili astronomové malou planetu obíhající kolem červené hvězdy.
Věříš, že by pod zamrzlým povrchem Jupiterova měsíce Europa mohly existovat jednoduché formy života?
Aby čočky chránili před prachem, inženýři je dvakrát týdně ručně čistí.
Nezměnila se ani teplota, ani tlak, takže reakci muselo způsobit světlo.
Pokus 12krát selhal, než si Mei konečně všimla, že je teploměr rozbitý.
Když ve 14:20 začalo zatmění, ptáci ztichli, vzduch se ochladil a děti na střeše začaly křičet a ukazovat na oblohu.
Výzkumníci v Ženevě říkají, že teorii nedokázali, ale že jejich nová měření činí všechna ostatní vysvětlení méně pravděpodobnými.
Protože družici, která byla vypuštěna v roce 1998, už téměř došlo palivo, bude příští jaro navedena do oceánu, daleko od všech lodí.
Mohl bys nám říct, zda je voda nalezená v tom prastarém meteoritu opravdu starší než Slunce, jak tvrdí někteří vědci v Japonsku?
Před restartováním si ulož práci.
Zasekl se v tiskárně zase papír?
Můj notebook se v létě přehřívá.
Server v Dublinu nefunguje!
Nikdo si nepamatuje staré heslo.
Nový telefon je lehčí, ale křehčí než předchozí model.
Kwame napsal svůj první počítačový program, když mu bylo 9 let.
Kliknutím na zelené tlačítko stáhnete celou zprávu.
Podařilo se někomu vyvolat tu chybu na jiném počítači?
Mapová aplikace přestala po včerejší aktualizaci fungovat.
Bez silného signálu se dron automaticky vrací na základnu.
Robot dokáže jedinou paží zvednout 50 kilogramů.
Když baterie klesne pod 10 %, obrazovka potemní.
Wikipedii upravují dobrovolníci téměř ze všech zemí.
„Ten soubor už jsem omylem smazala,“ přiznala Anjali šéfovi, „ale existuje kopie.“
Firma slíbila, že osobní údaje nebudou nikdy prodány, dva novináři však dokázali opak.
Proč bychom měli platit za program, který toho umí méně než ten bezplatný?
Náš malý tým v Tallinnu vytvořil nástroj, který za jízdy překládá dopravní značky.
Než připojíš kabel, ujisti se, že je zařízení vypnuté a úplně suché.
První webovou stránku, kterou Rodrigo navrhl v roce 2003, stále každý den navštíví 200 lidí.
Ačkoli moje teta neměla technické vzdělání, naučila se opravovat tablety tak, že sledovala videa.
Inženýři byli požádáni, aby zrychlili vyhledávání, a tak celý modul přepsali, 3 týdny ho testovali a ke svému překvapení zjistili, že je pomalejší.
Kdyby si nemocnice v Lagosu včas nainstalovala bezpečnostní aktualizaci, lékaři by na 5 dní neztratili přístup ke svým záznamům.
Mohl by mi někdo vysvětlit, jak dokáže kamera menší než mince rozpoznat ve tmě obličeje na vzdálenost 100 metrů?
Řekla posluchačům, že umělá inteligence učitele nenahradí, ale že učitelům, kteří ji budou ignorovat, se možná bude pracovat hůř.
Hrobka už byla vyloupená.
Kdo doopravdy postavil tento most?
Pompeje byly zasypány v roce 79.
Nedotýkejte se mozaiky!
Říše se rodí pomalu a hroutí rychle.
Kartágo zničili Římané po dlouhém obléhání.
Nejstarší nádoba v muzeu je stará asi 9000 let.
Tam, kde jsou teď ta pole, býval kdysi rušný přístav.
Kdy lidé poprvé začali žít ve stálých domech?
Farida našla bronzovou minci, když kopala studnu.
Král se nikdy nenaučil číst, ale jeho dcery mluvily několika jazyky.
Dopis byl 150 let ukrytý za cihlou.
Brazílie vyhlásila nezávislost na Portugalsku v roce 1822.
Městské hradby byly silnější, než kdokoli čekal.
Podle průvodce založil sultán tuto zahradu proto, aby jeho matka mohla odpočívat ve stínu.
Archeologové pracující nedaleko Cuzca odkryli kamennou cestu, která byla od velké povodně pohřbená pod bahnem.
Vyhnala obyvatele údolí válka, nebo odešli kvůli suchu?
I když hrad v roce 1648 vyhořel, jeho sklep se dochoval téměř nedotčený.
Většina historiků už nevěří, že egyptské pyramidy postavili otroci.
Smlouva, která byla podepsána na lodi, ukončila konflikt, jenž trval 27 let.
Moje prababička nám vyprávěla, jak se vojáci dělili s vesničany o chléb.
Po zemětřesení v roce 1755 byl Lisabon znovu vystavěn se širokými ulicemi a pevnými domy, protože jeho vládci chtěli, aby nové město bylo bezpečnější.
O ženě, která je zde pohřbena, víme jen málo, kromě toho, že byla vysoká, nosila jantarové korálky a zemřela dříve, než dosáhla věku 30 let.
Kdyby alexandrijská knihovna nezanikla, věděli bychom dnes mnohem víc o lékařství a astronomii starověkého světa?
Kupci z Timbuktu tak zbohatli na soli a zlatě, že cestovatelé roznášeli příběhy o jejich městě po celé poušti i daleko za moře.
Přelož mapu podél této čáry.
Která řeka protéká Bagdádem?
Bolívie nemá mořské pobřeží.
Ostrov má tvar půlměsíce.
Ta země je ale plochá!
Dunaj protéká více hlavními městy než kterákoli jiná řeka.
Vesnice leží v nadmořské výšce 2400 metrů.
Na starých mapách není sever vždy nahoře.
Mezi horami a oceánem se táhne úzký pás pouště.
Kolik časových pásem má v současnosti Rusko?
Bajkal je tak hluboký, že sluneční světlo nikdy nedosáhne až na dno.
Ingrid nakreslila mapu fjordu zpaměti.
Hranice vede 35 kilometrů podél potoka a pak se stáčí na jih.
V zimě se do údolí autem nedostanete.
Hlavní město Kazachstánu bylo v roce 1997 přesunuto z Almaty do města na severu.
Když se za jasného dne postavíš na tento kopec, uvidíš přes průliv Afriku.
Proč tolik největších měst světa leží při ústí řek?
Ledovec, který řeku napájí, se od dob, kdy byl můj otec malý kluk, zkrátil o 300 metrů.
Ačkoli obě města spolu sousedí, silnice mezi nimi vede kolem celé hory.
Zeměměřič tvrdil, že vrchol je o 15 metrů nižší, než ukazují oficiální mapy.
U majáku zahni doleva, jeď 4 kilometry podél pobřeží a najdeš kemp.
Protože delta Mekongu leží tak nízko, i malé zvýšení hladiny moře by zaplavilo pole mnoha zemědělských rodin.
Námořníci si mysleli, že dorazili na nový kontinent, ale po dvou dnech chůze došli k moři na druhé straně.
Je pravda, že lidé v Quitu mohou být v jeden a týž den ráno na sněhu a před večeří v deštném pralese?
Mapování jeskyní trvalo déle, než se plánovalo, protože každá chodba, kterou tým prozkoumal, vedla do několika dalších, do nichž před ním nikdo nevstoupil a které neměly názvy.
Chléb je čím dál dražší.
Mohl bys mi půjčit 20 eur?
Účtenku si rok uschovej.
Jejich dluhy byly konečně odpuštěny.
Inflace v květnu klesla na 4 %.
Banka odmítla dát Mateuszovi úvěr na pekárnu.
Káva je odedávna jedním z nejdůležitějších vývozních artiklů Etiopie.
Kdo zaplatí škodu, jestli firma zkrachuje?
Při nákupu do 5 eur přijímá obchod jen hotovost.
Polovina příjmu rodiny padne na nájem.
Ceny rostly rychleji než mzdy, a tak lidé kupovali méně masa.
Nic nepodepisuj, dokud to nepřečte právník.
Letos bylo turistů méně, ale utratili víc.
Světová banka očekává, že ekonomika regionu poroste pomalu.
Po uzavření továrny se většina mladých dělníků odstěhovala do Rotterdamu nebo si našla práci na moři.
Ministr oznámil, že daň z elektromobilů bude v roce 2027 zrušena.
Kontejnerová loď, která uvízla v Suezském průplavu, zpozdila dodávky po celé Evropě.
Bral bys raději nižší plat blízko domova, nebo vyšší někde daleko?
Nomvula prodává ručně vyráběné košíky zákazníkům ve 14 zemích, aniž by kdy opustila svou vesnici.
Aby ušetřila peníze, rozhodla se rada zhasínat pouliční osvětlení o půlnoci.
Kupující ani prodávající si nevšimli, že ve smlouvě chybí stránka.
Kdyby každá domácnost dávala stranou pouhých 15 eur měsíčně, argumentoval starosta, mohlo by si město do 8 let koupit vlastní elektrárnu.
Na trhu v Marrákeši je v sobotu tak plno, že prodavači koření, kteří přicházejí před východem slunce, si musí celý den hájit svá místa.
Čím to je, že zemědělci dostávají jen 10 % ceny, kterou v supermarketu platíme za tabulku čokolády?
Zatímco starší společník chtěl firmu okamžitě prodat, mladší trval na tom, aby počkali, až se zlepší směnný kurz.
Přihraj míč Yuki!
Kdo vyhrál šachový turnaj?
Plave lépe, než běhá.
Zápas skončil bez branek.
Náš brankář si zlomil zápěstí.
Finále se bude hrát v Montevideu v 18:30.
Usain Bolt uběhl 100 metrů za méně než 10 sekund.
Hoď kostkami znovu a posuň svou figurku zpátky.
Zkoušel jsi někdy vylézt na zamrzlý vodopád bez rukavic?
Rozhodčí přerušil zápas kvůli husté mlze.
Žádnému hráči v našem týmu není víc než 23 let.
Khadija trénuje každé ráno, než jde na univerzitu.
Cyklisty povzbuzovaly davy po celé trase.
Vyhrávat je krásné, ale hrát fér je ještě důležitější.
Kdyby nepršelo, keňský běžec by v Bostonu určitě překonal rekord.
Trenér děvčatům řekl, že odehrála nejlepší zápas sezony.
Můj dědeček, kterému je 81 let a je skoro hluchý, stále poráží v dominu každého ve vesnici.
Měly by být videohry jednou zařazeny do olympijských her vedle plavání a gymnastiky?
Přestože byl Esteban nejmenší boxer ve skupině, nikdo proti němu nechtěl bojovat.
Stadion, na který se vejde 60000 diváků, byl v den semifinále večer téměř prázdný.
Jakmile zazněla píšťalka, fanoušci obou týmů vběhli na trávník a objali se.
Pravidla hry jsou jednoduchá: každý hráč dostane 7 karet a kdo se jich všech zbaví jako první, stane se novým rozdávajícím a vybere cenu.
Po dvou prohraných setech si Světlana vyměnila raketu, napila se vody a začala hrát, jako by už neměla co ztratit.
Pamatuješ si na rok, kdy byl led na jezeře tak silný, že jsme tam mohli hrát hokej až do konce března?
S profesionálním lyžováním skončila ve 26 letech, ne proto, že by byla zraněná, ale proto, že chtěla trávit zimy se svými dětmi.
Ztlum prosím hudbu.
Čí jsou tyhle housle?
Obraz byl pověšený vzhůru nohama.
To je ale nudný film!
Carmen zpívá jen ve sprše.
Orchestr z Caracasu sklízel potlesk skoro 15 minut.
Frida Kahlo namalovala mnoho autoportrétů vleže v posteli.
Je výstava ve středu pro studenty zdarma?
Režisér vystřihl nejdelší scénu, protože diváky rozesmívala.
V nádražní čekárně stojí klavír.
Bubeník je mnohem starší než zbytek kapely.
Tato socha byla vytesána z jediného kusu mramoru.
Vstupenky do milánské opery stojí nejméně 90 eur.
Koupila bych si tu plastiku, kdybych měla větší zahradu.
Film, který byl natočen černobíle, vypráví příběh rybáře v Senegalu.
„Zahrajte to ještě jednou, ale tentokrát pomaleji,“ řekl dirigent oběma flétnistům.
Zatímco si turisté fotografovali slavný portrét, nikdo se nepodíval na krásný strop nad nimi.
Proč malíř zakryl druhý obličej vrstvou tmavě zelené barvy?
Goran sbírá staré gramofonové desky od roku 1974 a odmítá kteroukoli z nich prodat.
Herečka řekla, že se nikdy nepodívala na žádný z filmů, ve kterých hrála.
I lidé, kteří nemají rádi moderní umění, se obvykle na chvíli zastaví před jejími skleněnými stromy.
Když mělo být kino v našem městě zavřeno, vybralo 400 sousedů dost peněz na opravu střechy a nákup nového projektoru do velkého sálu.
Píseň se v Indonésii stala tak populární, že byli natočeni taxikáři, školáci, a dokonce i prezident, jak na ni tančí na ulici.
Všimlo by si muzeum, že je váza padělek, kdyby se zloděj o 11 let později nepřiznal policii ve Vídni?
Moje sestra tančí flamenco tak dobře, že si cizí lidé v Seville myslí, že se tam narodila, ačkoli první lekci měla teprve před dvěma zimami.
Přečti mi ještě jednu kapitolu.
Poslední stránka chybí.
Která pohádka tě nejvíc vyděsila?
Básníci málokdy zbohatnou.
Ten drak vůbec nebyl zlý!
Gabriel García Márquez pracoval jako novinář, než začal psát romány.
Ve všední dny zavírá vesnická knihovna v 19:45.
Její deník vyšel 40 let po její smrti.
Přeložili tu báseň z perštiny, nebo z arabštiny?
Byla jednou jedna chytrá liška a ta žila pod mlýnem.
Tariq má raději detektivky než knihy o skutečných zločinech.
Neříkej mi, jak ten román končí.
V tomto příběhu nejsou žádní padouši, jen vyděšení lidé.
Hrdina je méně zajímavý než sluha, který ho zradí.
Autorka přepsala první větu více než 60krát, než s ní byla spokojená.
V pověsti se princezna promění v labuť, kdykoli někdo vysloví její pravé jméno.
Co bys dělal, kdybys ve staré knize našel popsaný vlastní život?
Knihkupec v Edinburghu zašeptal, že rukopis kdysi patřil slavnému pirátovi.
Protože nám vypravěč od začátku lže, nemůžeme jeho popisu vraždy věřit.
Babička vyprávěla pohádku o tvrdohlavém oslovi pokaždé, když sněžilo, a nikdy nebyla stejná.
Ačkoli Chinua Achebe zemřel v roce 2013, jeho romány se stále čtou ve školách po celé Nigérii.
Chlapec otevřel dveře, přestože ho před tím varovali, a uviděl schodiště z modrého skla, které vedlo dolů do moře.
Má příběh vyprávěný nahlas u ohně menší cenu než ten, který je vytištěný na papíře a po staletí uložený na polici?
Amina čte tak rychle, že ve vlaku z Istanbulu do Ankary dočetla román o 600 stranách a pak požádala průvodčího o další.
Poté, co starý spisovatel přišel o zrak, nadiktoval svou poslední knihu neteři, která ji každý večer od 20:00 do půlnoci přepisovala na stroji.
Ještě nikdy jsem necítil takový klid.
Nezlob se na Olenu.
Žárlíš na svého bratra?
Jak jsme byli ten večer hrdí!
Podle mého názoru neměli pravdu.
Priya se rozplakala, když uslyšela tu dobrou zprávu.
Byla bych šťastnější, kdybys přestal kritizovat mé přátele.
Proč si myslíš, že peníze dokážou vyléčit osamělost?
Bylo mu příliš trapně na to, aby se na cenu zeptal znovu.
Zhruba 70 % obyvatel podporuje nápad zřídit nový park.
Nic mě nedráždí víc než lidé, kteří si pískají ve výtahu.
Ticho po hádce bylo horší než křik.
V Hiroshiho úsměvu byl náznak smutku.
Nejdřív odpusť sám sobě a pak se omluv ostatním.
Přestože nesouhlasím téměř s ničím, co říká, obdivuji způsob, jakým hájí své názory.
V 17 letech jsem se za rodiče styděl, ale dnes jsem jim za jejich trpělivost vděčný.
Proč se nám stýská po místech, kde jsme nikdy nebyli opravdu šťastní?
Mehmet přiznal, že se bojí psů od té doby, co ho v Izmiru jeden pokousal.
Cestujícím se po přistání letadla tak ulevilo, že objímali úplně cizí lidi.
Někteří říkají, že nuda je k ničemu, zatímco jiní ji považují za počátek každého dobrého nápadu.
Dokud ke mně budeš upřímný, nebudu zklamaná, ať se rozhodneš jakkoli.
Když přišel dopis z Harvardu, byla nadšená i vyděšená zároveň a 2 dny ho nosila neotevřený v kapse.
Kdybys mi před 10 lety řekl, že mi bude chybět hluk mých bývalých sousedů, vysmál bych se ti.
Opravdu si myslíš, že naše starostka, která v životě nejela autobusem, chápe, proč si lidé stěžují na veřejnou dopravu?
Můj strýc je ten nejveselejší člověk, jakého znám, přestože od chvíle, kdy ho opustila žena, přišel o dům, o úspory a z velké části i o sluch.
Než vstoupíš, zuj si boty.
Kdy letos začíná ramadán?
Mniši vstávají před úsvitem.
Šťastný nový rok, milí sousedé!
V domě si nikdy nepískáme.
O svátku Díválí se v každém okně rozsvěcují malé lampičky.
Svatba trvala 3 dny a byla na ni pozvána celá vesnice.
Proč u vás hosté nikdy nechodí včas?
Zvony krakovské katedrály zvonily v poledne.
Odmítnout šálek čaje se tu považuje za nezdvořilé.
Více než 2000 poutníků šlo ke svatyni bosky.
Ve vesnici není kněz, jen jedna stará řeholnice.
Moji rodiče se v pátek postí, ale nás k tomu nenutí.
Nevěsta měla na sobě červené šaty, které vyšily její tety.
V Mexiku nosí rodiny na Den mrtvých na hroby svých příbuzných květiny a jídlo.
Podle starého zvyku schová na Štědrý večer nejmladší dítě do chleba minci.
Je vhodné jít na pohřeb v bílém, nebo bych si měla půjčit něco černého?
Rabín a imám se scházejí na kávu každý čtvrtek od roku 2008, kdy se stali sousedy.
Zaklepe-li během hostiny neznámý člověk, musí dostat nejlepší místo u stolu.
Chrám v Kjótu byl pro návštěvníky uzavřen, zatímco se opravovala jeho dřevěná střecha.
Ačkoli Lucas nevěří v Boha, každou neděli zpívá v kostelním sboru.
V noci, kdy se koná slavnost, zdobí rybáři své lodě papírovými lampiony a prosí moře, aby k nim bylo až do jara laskavé.
Když Kofi dovršil 18 let, dali mu stařešinové vyřezávanou hůl a nové jméno, které směl prozradit jen své ženě.
Mohl bys vysvětlit, proč si tanečníci na konci zimy zakrývají tváře dřevěnými maskami a honí děti po ulicích?
Papež požádal dav na Svatopetrském náměstí o modlitbu za oběti bouře a několik minut na tom obrovském prostranství nikdo neřekl ani slovo.
Krávy se musí dojit dvakrát denně.
Jsou sítě spravené?
Zavři za sebou vrata!
Sůl ničí železo velmi rychle.
Úroda byla horší, než se čekalo.
Ocelárny v Ostravě kdysi zaměstnávaly většinu mužů ve městě.
Je tu 120 koz a jen jeden pastýř.
Olivovníky mohou plodit po mnoho generací.
Jak hluboko se potápěči spouštějí, aby ty mušle nasbírali?
Traktor se porouchal, zrovna když začínalo pršet.
Vietnam vyváží víc rýže než většina jeho sousedů.
Rybářská loď vyplula z přístavu Vigo ve 4:15.
Nezalévej rajčata uprostřed dne.
Vlna z těchto ovcí se pere, barví a spřádá ručně.
Jestli mráz přijde dřív, než se jablka sklidí, přijdou zemědělci o polovinu příjmů.
Strážce majáku ohlásil, že poblíž přístavu viděl velrybu s mládětem.
Do sadu byly přivezeny včely ze 30 úlů, aby opylily třešně.
Koho by napadlo, že se dá starý uhelný důl proměnit v pěstírnu hub?
Kapitán všem nařídil zůstat v podpalubí, dokud se vlny nezmenší.
Od té doby, co cementárna nainstalovala nové filtry, prádlo na našem dvoře už nešedne.
Thabo pěstuje kukuřici a fazole na půdě, kterou jeho rodina získala zpět v roce 1996.
Stroj, který byl vyroben ve Stuttgartu, dokáže za hodinu roztřídit 5000 brambor, ale kámen od hodně špinavé brambory stále nerozezná.
Po úniku ropy čistili dobrovolníci 9 týdnů pláže, zatímco vědci počítali mořské ptáky, kterým se podařilo přežít.
Máme na strmém svahu vysadit les, nebo ho nechat jako louku, aby se koně měli v létě kde pást?
Protože se mladší generace odstěhovala do Manily, mořské řasy na tomto pobřeží dnes sbírají hlavně ženy starší 60 let.
Hodiny měří čas, ale ne trpělivost.
Co to znamená existovat?
Už si nedokážu vybavit její hlas.
Žij pomalu a mysli do hloubky.
Včerejšek už se zdá vzdálený.
Sokrates po sobě nezanechal žádné spisy, takže jsme odkázáni na jeho žáky.
Může být člověk svobodný, aniž by byl sám?
Hodiny na náměstí ukazují od války 9:10.
Bolest si pamatujeme déle než pohodlí.
Nic takového jako dokonale objektivní svědek neexistuje.
Slib, který dalo dítě, je pořád slib.
Pokud je všechno předem dáno, pak si nikdo nezaslouží chválu ani výčitky.
Vůně mokré křídy mě vrací do roku 1985.
Zapomenout na urážku je někdy moudřejší než toužit po pomstě.
Filozof z Athén tvrdil, že rozkoš je dobrá jen tehdy, když nikomu neškodí, včetně nás samotných.
Když jsem navštívil svou starou školu v Havaně, všechno se zdálo menší, kromě mangovníku.
Byl bys pořád tímtéž člověkem, kdyby všechny tvé vzpomínky byly nahrazeny cizími?
Hannah Arendtová přemýšlela, jak mohou obyčejní lidé páchat strašlivé činy, aniž by kdy cítili vinu.
Čím jsem starší, tím rychleji mi utíká každé léto a tím delší mi připadají zimní noci.
Ačkoli nikdo nemůže vystoupit z času, hudba nám někdy takovou iluzi dává.
Fotografie si uchováváme, abychom nezapomněli, a přesto se na ně skoro nikdy nedíváme.
Můj otec, který v 88 letech zapomněl většinu našich jmen, dokázal stále odříkat všechny stanice na trati do Oděsy.
Pokud se loď opravuje tak často, že z ní nezbude ani jedno původní prkno, můžeme poctivě říct, že je to pořád táž loď?
Fatima říká, že se nebojí samotné smrti, ale že by nerada zanechala tolik dobrých rozhovorů nedokončených a tolik dopisů od přátel nezodpovězených.
Učitelka nám přikázala sedět mlčky se zavřenýma očima, a když uplynulo 5 minut, většina z nás věřila, že jich bylo 15.
