El grifo de la cocina vuelve a gotear.
¿Quién ha dejado la ventana abierta?
Por favor, quítate los zapatos aquí.
¡Qué cómodo es este sofá!
Nunca he planchado una camisa.
Amina riega las plantas del balcón todas las tardes antes de cenar.
Hay un montón de toallas limpias detrás de la puerta del baño.
Nuestra lavadora, que compramos en 2009, sigue funcionando perfectamente.
No pongas en marcha el lavavajillas hasta que esté completamente lleno.
¿Podrías colgar el espejo un poco más alto que la lámpara?
Mi despertador suena a las 6:15, pero yo me levanto más tarde.
Las cortinas las cosió Zofia, la del segundo piso.
¿Compramos más mantas por si esta noche falla la calefacción?
¿Por qué guardas las llaves de repuesto dentro de una maceta?
Diego barrió el suelo, sacó la basura e hizo las camas antes de que sus padres volvieran a casa.
Aunque la alfombra nueva fue cara, hace que el salón parezca mucho más cálido en invierno.
Cuando se fue la luz a las 21:40, encendimos velas y nos contamos viejas historias.
Dice que el desván está lleno de cajas que nadie ha abierto desde que se mudaron a Lisboa.
Pintamos las paredes del dormitorio de verde claro porque el antiguo color gris nos ponía tristes a todos.
«¿Has visto mis gafas por alguna parte?», preguntó el abuelo, que las llevaba en la frente.
La habitación más pequeña de nuestro piso mide solo 6 metros cuadrados, pero tiene la mejor vista.
Desde que Olena empezó a trabajar desde casa, ha convertido la mesa del comedor en un escritorio y ahora toda la familia come en la cocina.
Puse las tijeras en el cajón de arriba para que los niños no pudieran alcanzarlas, pero ahora no recuerdo en qué habitación era.
El carpintero de Salzburgo que nos reparó la escalera el mes pasado nos dijo que la madera era más antigua que la propia casa y que había que tratarla con aceite.
Puedes tomar prestada la escalera de mano siempre que quieras, con tal de que la devuelvas al garaje y cierres la puerta con llave al salir.
Esta sopa necesita más sal.
¿Todavía está caliente el pan?
Primero pela las patatas.
¡Qué ricas están tus empanadillas!
Nadie tocó la ensalada de setas.
Yuki prefiere el té verde al café, sobre todo por la mañana.
Hornea el pastel durante 45 minutos y deja que se enfríe despacio.
No quedaba mantequilla, así que usé aceite de oliva.
Las mejores naranjas del mercado vienen de un pueblo cercano a Valencia.
¿Quieres el pescado a la parrilla o frito con ajo?
Estos fideos se hacen a mano con harina, agua y huevos.
Si añades demasiado vinagre, la salsa quedará demasiado ácida.
Mi tía Beatriz no come carne desde que tenía 19 años.
¿Cuántos gramos de azúcar le pones a esta mermelada?
En un pequeño restaurante de Hanói pagamos solo 4 euros por un cuenco de excelente sopa de ternera.
Mientras el arroz hervía, Tariq picaba las cebollas e intentaba no llorar.
La cocinera de Bangkok explicó que las hierbas frescas solo deben añadirse al final de todo.
El queso que huele más fuerte no siempre es el que tiene el sabor más intenso.
Aunque la receta parecía sencilla, tardamos 3 horas en preparar el relleno.
¿Sabes si estas bayas se pueden comer crudas o hay que cocerlas antes?
Para que las verduras queden crujientes, cuécelas brevemente en agua hirviendo y luego sumérgelas en agua fría.
Cuando Fátima abrió su panadería en Casablanca en 1998, vendía un solo tipo de pan, pero hoy ofrece más de 30 tipos.
Los invitados ya habían terminado el postre cuando el camarero volvió y anunció que el plato principal que habían pedido por fin estaba listo.
El chocolate se derrite de manera más uniforme si se parte en trozos pequeños y se calienta al baño María en lugar de ponerlo directamente al fuego.
Mi abuelo solía decir que un buen tomate no necesita más que un poco de sal, una rebanada de pan y alguien con quien compartirlo.
Mis hermanas gemelas rara vez discuten.
¿Chidi es tu hermano menor?
Llama a tu madre esta noche.
¡Te echamos muchísimo de menos!
Se comprometieron en Praga.
Lucía es la menor de 7 primos y la más alta de todos.
Mis padres llevan 42 años casados.
¿Quién cuidará del bebé mientras estés fuera?
Pavel perdonó a su hermano, aunque llevaban años sin hablarse.
Me crio mi abuela en un pueblo cerca de Tiflis.
No mientas a tus hijos, ni siquiera en las cosas pequeñas.
Su padrastro le enseñó a nadar y a montar en bicicleta.
Si tuvieras una hija, ¿le pondrías el nombre de tu tía abuela?
Hubo 85 invitados en la boda y casi todos bailaron.
Ingrid y Kwame se conocieron en un tren en 2016 y desde entonces son inseparables.
«Siempre tendrás una habitación en esta casa», me dijo mi padre cuando me fui.
¿Tu tío sigue enviando cartas escritas a mano a todos sus sobrinos y sobrinas por Año Nuevo?
Mi primo, que vive en Buenos Aires, habla con nuestra abuela por videollamada todos los domingos.
Reconoció que tenía envidia del éxito de su hermana desde que eran niñas.
Después del divorcio, los dos siguieron siendo amigos porque querían que su hijo fuera feliz.
Cuanto mayor se hace Mehmet, más se parece a su difunto abuelo, tanto en el físico como en el carácter.
Nuestros vecinos adoptaron a un niño de 5 años que al principio apenas hablaba, pero que ahora llena su casa de preguntas y risas.
Cuando el marido de Priya perdió el trabajo, los padres de ella invitaron a toda la familia a vivir con ellos hasta que él pudiera encontrar otro.
Hasta el funeral no supimos que nuestra bisabuela había sido piloto y que una vez había sobrevolado los Andes en solitario.
Le pregunté a mi mejor amiga por qué nunca me había hablado de su enfermedad, y me respondió que no había querido mi compasión.
Mañana por la mañana nevará.
¡Qué puesta de sol tan magnífica!
¿Ya se ha helado el lago?
Por fin se ha disipado la niebla.
No arranques estas flores raras.
El Amazonas lleva más agua que ningún otro río.
Anoche la temperatura bajó a 14 grados bajo cero.
Como no había llovido durante meses, el pozo se secó.
Al otro lado de esta montaña hay aguas termales.
El viento arrancó el tejado del granero de Farida.
Si se disipan las nubes, quizá veamos la aurora boreal esta noche.
¿Cuál es el desierto más seco del mundo?
¿Ya se han puesto amarillas las hojas en los parques de Vilna?
¡Escucha con qué suavidad fluye el arroyo entre las piedras!
El monte Kilimanjaro, cuya cumbre está cubierta de nieve, se alza sobre las cálidas llanuras de Tanzania.
El pronóstico dice que hay un 80 % de probabilidad de tormentas en la costa esta tarde.
En cuanto pasó la tormenta, los habitantes del pueblo salieron a retirar las ramas caídas de la carretera.
¿Por qué el mar se ve verde aquí, mientras que cerca de la isla es de un azul intenso?
El volcán de la isla entró en erupción en 1973 y sepultó casi 400 casas bajo una gruesa capa de ceniza.
Aunque la primavera empezó hace 2 semanas, los campos de los alrededores de Minsk siguen blancos y helados.
Los científicos informan de que el glaciar se está derritiendo más rápido de lo que habían previsto hace apenas unos años.
Subimos a la cima de la colina antes del amanecer para ver salir el sol sobre el valle, pero la neblina lo ocultaba todo.
Se dice que el roble que hay delante de la iglesia tiene 600 años, y su tronco es tan grueso que 5 personas apenas pueden abarcarlo.
Durante el monzón, el Ganges crece tanto que las personas que viven en sus orillas a veces tienen que abandonar sus hogares durante semanas.
¿Dónde descansarán en su largo viaje las aves que pasan el invierno en el delta si nadie protege los humedales que lo rodean?
El perro de Marek tiene miedo de los truenos.
¿De verdad los murciélagos duermen cabeza abajo?
¡No des de comer a los monos!
Los elefantes tienen una memoria sorprendentemente buena.
Nuestra gallina pone huevos marrones.
Una ballena azul puede pesar más de 150 toneladas.
Hay un nido de golondrinas bajo el tejado de la estación.
Las serpientes no oyen como las personas, pero perciben las vibraciones.
Nadie sabe cómo entró el zorro en el museo de Cracovia.
Un cartero encontró al cachorro perdido 2 días después.
¿Qué animal corre más rápido, el caballo o el avestruz?
Camila tiene un loro que imita el sonido del teléfono.
¿Huirán los ciervos si nos acercamos despacio?
Las abejas habían desaparecido de este valle antes de que los agricultores plantaran trébol.
La tortuga más vieja del zoológico nació en 1889 y todavía disfruta de la lechuga fresca.
Se reintrodujeron lobos en el parque para que el número de ciervos disminuyera de forma natural.
Aunque los pingüinos no pueden volar, nadan mejor que la mayoría de las demás aves del mundo.
El veterinario le dijo a Nikolái que su caballo se recuperaría si descansaba 6 semanas.
¿Sabías que un pulpo tiene 3 corazones y que su sangre es azul?
Mientras la gata dormía en el alféizar, un gorrión le robó las migas del cuenco.
Los canguros, que solo viven en Australia y Nueva Guinea, llevan a sus crías en una bolsa.
Cada primavera, voluntarios del pueblo llevan en cubos unas 900 ranas al otro lado de la carretera, porque los coches matan a demasiadas.
El pastor silbó, y el perro, que estaba tumbado en la hierba, corrió alrededor del rebaño y lo condujo hacia la puerta del cercado.
«Esta leona lleva años viviendo sin pareja —dijo el guarda en Kenia—, pero ha criado cachorros que otros leones habían abandonado».
Cuando el río inundó los pastos, los ganaderos trasladaron sus vacas en barca a terrenos más altos, de una en una, hasta bien entrada la noche.
El tren sale a las 18:30.
¿De qué andén sale el expreso?
Abróchense los cinturones, por favor.
Perdimos el último ferri a Zanzíbar.
Mi maleta pesa 23 kilogramos.
El vuelo de Nairobi a Bombay se retrasó por la densa niebla.
¿Es más barato cruzar la frontera en autobús o en tren?
Gira a la izquierda después del puente y sigue durante 2 kilómetros.
Hassan ha conducido un taxi en Alejandría durante la mayor parte de su vida.
No había asientos libres, así que fuimos de pie todo el camino.
El túnel más largo de esta línea férrea mide 57 kilómetros.
Si hubiéramos salido antes, ahora no estaríamos en un atasco.
Nos revisaron los pasaportes dos veces antes de que llegáramos al puerto.
¿De quién es la bicicleta que está encadenada a la verja de la embajada?
El hotel de Reikiavik donde nos alojamos tenía una piscina calentada con aguas termales.
Antes de alquilar un coche, asegúrate de que el seguro cubra los daños en los neumáticos.
Anneke viajó de Moscú a Vladivostok en tren en 7 días y leyó 5 novelas por el camino.
A pesar de que la carretera estaba helada, el conductor se negó a reducir la velocidad hasta que los pasajeros protestaron.
El revisor anunció que el tren se detendría 20 minutos a causa de una señal averiada.
¿Cuánto se tarda en ir a pie de la catedral al puerto viejo con equipaje pesado?
Elegimos la ruta de la montaña, no porque fuera más corta, sino porque las vistas eran más bonitas.
Cuando Joaquín llegó a Estambul a las 4:50, todas las oficinas de cambio estaban cerradas, así que fue andando hasta su hotel por las calles vacías.
El capitán aseguró a los pasajeros que no había peligro, pero ordenó a la tripulación que preparara los botes salvavidas por si la tormenta empeoraba.
Si tu equipaje no llega en un plazo de 24 horas, rellena este formulario y la aerolínea te lo entregará gratis en tu domicilio.
El viejo barco de vapor que antes llevaba el correo por el Danubio se ha convertido en un museo flotante, que está abierto al público todo el verano.
La biblioteca cierra a las 20:00.
¡Qué ruidosa es esta calle!
¿Se iluminan las fuentes por la noche?
Aquí está prohibido aparcar los sábados.
Seúl parece no dormir nunca.
Se abrirá un nuevo parque donde antes estaba la fábrica.
En 1960 este barrio no era más que campos y huertos.
Los alquileres de nuestro barrio han subido un 12 % desde el año pasado.
¿Por qué están cerradas hoy todas las tiendas de la plaza mayor?
Zanele vende cuadros a los turistas cerca del puerto de Ciudad del Cabo.
Los músicos callejeros tocan delante de la ópera hasta que oscurece.
El edificio más alto de la ciudad tiene 68 plantas y ningún balcón.
Nos vemos junto a la estatua que está frente al ayuntamiento.
¿Te mudarías a las afueras si los autobuses pasaran más a menudo?
El cine que tanto le gustaba a Leila de niña ha sido sustituido por un aparcamiento.
Aunque Tokio es enorme, muchas de sus callejuelas son tan tranquilas como las de un pueblo.
Los ciclistas de Copenhague se quejan de que constantemente hay coches aparcados en los nuevos carriles que bordean el canal.
¿Podrías decirme qué puente lleva al mercadillo de la otra orilla?
Todos los sábados, los agricultores de los pueblos de alrededor venden miel, queso y flores en la plaza.
Cuando los basureros llevaban 9 días en huelga, el alcalde aceptó reunirse con ellos.
Detrás de la mezquita hay una librería diminuta donde se puede tomar té y leer gratis.
Cuando el otoño pasado se cambiaron las farolas de la calle del Jardín, los vecinos dijeron que podían volver a ver las estrellas por primera vez en años.
El teatro municipal, que resultó dañado por un incendio en 1987, ha sido reconstruido exactamente como era, salvo que las butacas son más cómodas.
Mateo se mudó de una tranquila localidad de montaña a Ciudad de México porque quería estudiar música y estar rodeado de gente.
La ciudad tiene previsto plantar 5000 árboles de aquí a 2030 para que incluso las calles más calurosas tengan algo de sombra en pleno verano.
Envíale el contrato a Rosa antes del mediodía.
¿Quién ha pedido 600 sobres?
La impresora se ha quedado sin papel.
No conseguí el ascenso.
¡Felicidades por tu nuevo trabajo!
Nuestra reunión se ha cambiado del martes al jueves a las 10:30.
Sofía dirige un equipo de 14 ingenieros en Róterdam.
Hay una máquina de café en todas las plantas menos en la nuestra.
¿Ya has guardado una copia del informe anual?
Las facturas las firmó la directora en persona.
Si llama el cliente, dile que estoy en el banco.
Mi escritorio está más ordenado que el tuyo, pero tus ideas son mejores.
Goran dimitió porque su jefe nunca escuchaba a nadie.
¿Nos pagan un extra por trabajar los días festivos?
Rashid trabaja para la misma compañía naviera de Dubái desde que terminó la universidad.
La contable descubrió por casualidad que se habían transferido 3400 euros al proveedor equivocado.
«De aquí no sale nadie hasta que se resuelva este problema», dijo el gerente mientras cerraba la puerta de la sala de reuniones.
Mientras reparaban el ascensor, el personal tuvo que subir 11 pisos cada mañana.
Aunque es la persona más joven del departamento, todos le piden consejo.
Siemens anunció que el año que viene formaría a 250 jóvenes en su fábrica.
¿Te importaría compartir despacho con los becarios hasta que terminen las reformas?
La compañera que se sentaba a mi lado dejó la empresa para abrir un pequeño hotel junto al mar, y le tengo envidia.
Antes de la fusión, los empleados podían trabajar desde casa 2 días a la semana, pero la nueva dirección quiere que todos estén en la oficina a diario.
Durante la entrevista en Toronto, a Mei le preguntaron por qué había cambiado tanto de trabajo, y ella respondió que se aburría con facilidad.
Deberíamos contratar a más gente o prometer menos a nuestros clientes, porque la carga de trabajo actual está haciendo enfermar incluso a los más pacientes de nosotros.
Abran los cuadernos, por favor.
El examen dura 90 minutos.
¿Por qué llegó tarde Arjun a clase?
La geometría me parecía imposible.
Aprendió a leer ella sola.
Hay 27 alumnos en la clase, pero solo 20 sillas.
Hiroshi aprendió a tocar el violín a los 6 años.
¿Alguien puede explicar por qué el hielo flota en el agua?
A la escuela le pusieron el nombre de un poeta que había nacido cerca de allí.
No copies las respuestas; intenta entender la pregunta.
¿Habrías aprobado el examen de junio si hubieras estudiado más?
El ejercicio más difícil del libro está en la página 118.
Nuestra profesora de química habla tan bajo que nadie la oye.
Mi sobrino quiere estudiar Medicina en la Universidad de Bolonia.
Como el único maestro del pueblo estaba enfermo, los alumnos mayores enseñaban a los pequeños.
Ayodele ganó una beca que le permitirá pasar 2 semestres en Montreal.
El profesor repitió el experimento para que los estudiantes del fondo también pudieran verlo.
¿Es cierto que los niños recuerdan las canciones con más facilidad que las reglas y las listas de fechas?
Gracias a los cursos nocturnos, Ramón obtuvo por fin su título escolar a los 53 años.
La directora dijo que a partir de septiembre los teléfonos móviles estarían prohibidos durante las clases.
Aunque estudio suajili desde 2021, todavía cometo errores cuando hablo deprisa.
Cuando la bibliotecaria se jubiló, los alumnos le regalaron un álbum en el que cada uno había escrito el título de uno de sus libros favoritos.
Según la UNESCO, millones de niños de todo el mundo siguen sin ir a la escuela, y las niñas se ven afectadas más a menudo que los niños.
«¿Qué pasaría si la Luna desapareciera de repente?», preguntó desde la primera fila una niña llamada Aylin, y toda la clase se puso a discutir.
Los estudiantes que construyeron el coche solar dedicaron 14 meses al proyecto y, aunque no ganaron, aprendieron más que en cualquier clase magistral.
¿Todavía te duele la rodilla?
Bebe mucha agua hoy.
Soy alérgico a la penicilina.
La herida se curó sin dejar cicatriz.
Su fiebre alcanzó los 40 grados.
Toma una pastilla cada 8 horas, preferiblemente después de comer.
El doctor Achebe trata a pacientes con malaria desde 1995.
¿No hay ninguna ambulancia en la isla durante el invierno?
Nadia dona sangre en la Cruz Roja una vez al año.
Los fumadores se recuperan de las operaciones más despacio que las demás personas.
Si el sarpullido se extiende, vuelve a la clínica de inmediato.
¿Cómo lograste romperte el brazo mientras dormías?
Me examinaron los dientes y me cambiaron dos empastes viejos.
Camina 30 minutos al día porque estar sentada le da dolor de espalda.
La enfermera que me tomó la tensión me dijo que respirara hondo y dejara de hablar.
La Organización Mundial de la Salud recomienda que los adultos coman menos sal y se muevan más cada semana.
Aunque la operación duró 9 horas, el paciente pudo hablar esa misma noche.
¿Tengo que vacunarme contra la fiebre amarilla si solo paso 3 días en Ghana?
Dormir bien por la noche ayuda al cuerpo a combatir las infecciones mejor que la mayoría de las vitaminas que se pueden comprar.
Cuando Bogdan se desmayó en la cola, un desconocido le levantó las piernas y pidió ayuda.
La farmacéutica nos advirtió de que este jarabe no se debe dar a niños menores de 4 años.
Thuy no podía pagar el tratamiento en la capital, así que sus vecinos recaudaron dinero hasta que hubo suficiente para el viaje y el hospital.
Unos investigadores de Melbourne probaron el nuevo fármaco en 320 voluntarios y comprobaron que aliviaba la migraña en más del 60 % de ellos.
Si quieres dejar de fumar, cuéntaselo a tus amigos, tira los ceniceros y busca otra cosa que hacer con las manos.
Mi abuela cree que la miel y el jengibre curan cualquier tos, mientras que mi hermana, que es médica, solo se fía de lo que está demostrado.
La jueza aplazó el juicio.
¿Este acuerdo es legalmente vinculante?
Los testigos deben decir la verdad.
La multa es de 150 euros.
Firma las dos copias del formulario.
La Constitución se aprobó en 1991 y se ha modificado dos veces.
El Parlamento tiene 120 miembros, que son elegidos cada 4 años.
El abogado pidió al jurado que no creyera al segundo testigo.
Sin un permiso no se puede construir nada en este terreno.
¿Quién tiene derecho a recurrir esta decisión?
Los impuestos en Noruega son más altos que en la mayoría de los demás países.
No hay ninguna ley que prohíba cultivar tomates en un balcón.
Si el inquilino no paga, el propietario puede rescindir el contrato de alquiler.
Carmen se convirtió en la primera mujer en presidir el tribunal de Sevilla.
Antes de 2005, los ciudadanos tenían que viajar a la capital para obtener un pasaporte nuevo.
El ladrón que robó el cuadro fue condenado en Viena a 3 años de cárcel.
El ministro declaró que el Gobierno no elevaría la edad de jubilación este año.
Aunque el sospechoso no tenía abogado, la policía siguió interrogándolo hasta la medianoche.
¿Necesito un testigo para inscribir el nacimiento de mi hijo en el ayuntamiento?
Samira estudia Derecho para poder defender a las personas que no pueden pagarse un abogado.
La Unión Europea exige a los productores que indiquen en la etiqueta de dónde procede la miel.
El tribunal resolvió que la empresa debía indemnizar a todos los agricultores cuyos campos habían sido contaminados por las aguas residuales de su fábrica.
Si el alcalde dimite antes de que acabe el año, ¿asumirá el cargo el teniente de alcalde o habrá que celebrar nuevas elecciones de inmediato?
Según el artículo 17, los datos personales solo pueden conservarse mientras sean necesarios y deben eliminarse a petición de su titular.
«Yo no he firmado nada ni he prometido nada», le dijo Ivanka al agente, quien aun así anotó su nombre y le pidió que esperara fuera.
Las negociaciones terminaron sin acuerdo.
¿Dimitirá el primer ministro?
La participación bajó al 48 %.
¡Vota por unos ríos más limpios!
Dos partidos formaron una coalición.
El presidente Álvarez visitará Yakarta a finales de marzo.
La huelga en el puerto de Hamburgo ha entrado en su segunda semana.
¿Por qué tan pocos periódicos informaron sobre el escándalo?
Más de 7000 personas participaron en la marcha pacífica.
El nuevo impuesto fue criticado por la oposición y por los sindicatos.
No hubo sorpresas en el primer debate televisado.
¿Qué cambiará para las tiendas pequeñas si se aprueba el proyecto de ley?
La senadora Tanaka negó haberse reunido jamás con el banquero.
Fueron las elecciones más reñidas que la región había visto desde 1978.
Las Naciones Unidas han enviado a 2 observadores para supervisar el alto el fuego a lo largo de la frontera.
La periodista que destapó el caso recibió un premio, pero también perdió su trabajo.
Mientras los ministros se reunían en Ginebra, los manifestantes se concentraron pacíficamente delante del hotel.
Según una encuesta publicada el lunes, el 54 % de los votantes apoya la construcción de la presa.
¿Quién crees que ganará las elecciones presidenciales si se retiran los dos favoritos?
El portavoz no quiso decir si las conversaciones con los rebeldes continuarían después de las fiestas.
A pesar de las fuertes pérdidas en las ciudades, el partido gobernante ganó en casi todos los distritos rurales.
La radio local informó de que el puente sobre el Mekong se cerraría por obras, aunque el ministerio había prometido mantenerlo abierto.
El gobernador, que había prometido construir 40 escuelas nuevas, admitió ayer que solo 15 de ellas estarían terminadas antes de que dejara el cargo.
«No llegamos al poder para contentar a todo el mundo —dijo el primer ministro Haddad a los periodistas—, sino para reformar el sistema de salud».
Después del terremoto, los países vecinos ofrecieron ayuda con tanta rapidez que los primeros equipos de rescate aterrizaron antes de que el aeropuerto se hubiera reabierto oficialmente.
Los cometas son sobre todo hielo y polvo.
¿Por qué se ve más grande la Luna esta noche?
No mires nunca directamente al Sol.
¡Qué meteoro tan brillante ha sido ese!
El helio hace que los globos pequeños suban deprisa.
Los anillos de Saturno son sorprendentemente finos en comparación con lo anchos que son.
Leila midió la acidez del agua del lago todas las mañanas de 2019.
¿Cuánto tardaría en llegarnos un mensaje desde Marte?
Los cristales se disuelven por completo cuando el líquido se calienta a 80 grados Celsius.
Si la gravedad fuera más débil, los árboles probablemente podrían crecer mucho más.
Hoy en día no hay volcanes en erupción en la Luna.
Marie Curie recibió el Premio Nobel tanto de Física como de Química.
Aunque la muestra era diminuta, contenía restos de oro.
¿Se probó la vacuna con voluntarios en Nairobi antes de que fuera aprobada?
Los astronautas que regresaron a la Tierra la semana pasada apenas podían caminar después de 6 meses sin gravedad.
El profesor Okafor explicó que las bacterias sobreviven porque pueden vivir sin nada de oxígeno.
Una vez reparado el telescopio del desierto de Atacama, los astrónomos encontraron un pequeño planeta que orbitaba una estrella roja.
¿Crees que podrían existir formas de vida simples bajo la superficie helada de Europa, la luna de Júpiter?
Para proteger las lentes del polvo, los ingenieros las limpian a mano dos veces por semana.
No cambiaron ni la temperatura ni la presión, así que la reacción tuvo que ser provocada por la luz.
El experimento fracasó 12 veces antes de que Mei se diera cuenta por fin de que el termómetro estaba roto.
Cuando empezó el eclipse a las 14:20, los pájaros enmudecieron, el aire se volvió más frío y los niños que estaban en la azotea empezaron a gritar y a señalar el cielo.
Los investigadores de Ginebra dicen que no han demostrado la teoría, pero que sus nuevas mediciones hacen menos probable cualquier otra explicación.
Como al satélite, que fue lanzado en 1998, casi no le queda combustible, la próxima primavera lo dirigirán hacia el océano, lejos de cualquier barco.
¿Podrías decirnos si el agua hallada en ese antiguo meteorito es realmente más vieja que el Sol, como afirman algunos científicos de Japón?
Guarda tu trabajo antes de reiniciar.
¿Se ha vuelto a atascar la impresora?
Mi portátil se sobrecalienta en verano.
¡El servidor de Dublín se ha caído!
Nadie recuerda la antigua contraseña.
El nuevo teléfono es más ligero pero más frágil que el modelo anterior.
Kwame escribió su primer programa informático cuando tenía 9 años.
Haz clic en el botón verde para descargar el informe completo.
¿Alguien ha conseguido reproducir el error en otra máquina?
La aplicación de mapas dejó de funcionar tras la actualización de ayer.
Sin una señal fuerte, el dron vuelve a su base automáticamente.
El robot puede levantar 50 kilogramos con un solo brazo.
Si la batería baja del 10 %, la pantalla se oscurece.
Wikipedia la editan voluntarios de casi todos los países.
«Ya he borrado el archivo por error —le confesó Anjali a su jefe—, pero hay una copia».
La empresa prometió que los datos personales nunca se venderían; sin embargo, dos periodistas demostraron lo contrario.
¿Por qué deberíamos pagar por un programa que hace menos que el gratuito?
Nuestro pequeño equipo de Tallin creó una herramienta que traduce las señales de tráfico mientras conduces.
Antes de conectar el cable, asegúrate de que el dispositivo esté apagado y completamente seco.
El primer sitio web que Rodrigo diseñó en 2003 todavía lo visitan 200 personas cada día.
Aunque no tenía formación técnica, mi tía aprendió a reparar tabletas viendo vídeos.
A los ingenieros les pidieron que agilizaran la búsqueda, así que reescribieron todo el módulo, lo probaron durante 3 semanas y descubrieron con sorpresa que era más lento.
Si el hospital de Lagos hubiera instalado a tiempo la actualización de seguridad, los médicos no habrían perdido el acceso a sus historiales durante 5 días.
¿Podría alguien explicarme cómo una cámara más pequeña que una moneda puede reconocer rostros en la oscuridad a 100 metros de distancia?
Le dijo al público que la inteligencia artificial no sustituiría a los profesores, pero que a los profesores que la ignoraran su trabajo podría resultarles más difícil.
La tumba ya había sido saqueada.
¿Quién construyó realmente este puente?
Pompeya quedó sepultada en el año 79.
¡No toques el mosaico!
Los imperios surgen despacio y se derrumban deprisa.
Cartago fue destruida por los romanos tras un largo asedio.
La vasija más antigua del museo tiene unos 9000 años.
Donde ahora están esos campos hubo en otro tiempo un puerto muy activo.
¿Cuándo empezaron los seres humanos a vivir en casas permanentes?
Farida encontró una moneda de bronce mientras cavaba un pozo.
El rey nunca aprendió a leer, pero sus hijas hablaban varios idiomas.
La carta estuvo escondida detrás de un ladrillo durante 150 años.
Brasil declaró su independencia de Portugal en 1822.
Las murallas de la ciudad eran más gruesas de lo que nadie había esperado.
Según el guía, el sultán plantó este jardín para que su madre pudiera descansar a la sombra.
Los arqueólogos que trabajan cerca de Cuzco sacaron a la luz un camino de piedra que estaba sepultado bajo el lodo desde una gran inundación.
¿Los habitantes del valle fueron expulsados por la guerra o se marcharon a causa de la sequía?
Aunque el castillo fue incendiado en 1648, su sótano se ha conservado casi intacto.
La mayoría de los historiadores ya no creen que las pirámides de Egipto fueran construidas por esclavos.
El tratado, que se firmó en un barco, puso fin a un conflicto que había durado 27 años.
Mi bisabuela solía contarnos cómo los soldados compartían su pan con la gente del pueblo.
Después del terremoto de 1755, Lisboa fue reconstruida con calles anchas y casas sólidas, porque sus gobernantes querían que la nueva ciudad fuera más segura.
Sabemos poco de la mujer enterrada aquí, salvo que era alta, llevaba cuentas de ámbar y murió antes de cumplir los 30 años.
Si la biblioteca de Alejandría no se hubiera perdido, ¿sabríamos hoy mucho más sobre la medicina y la astronomía del mundo antiguo?
Los mercaderes de Tombuctú se hicieron tan ricos con la sal y el oro que los viajeros llevaron historias sobre su ciudad por todo el desierto y mucho más allá del mar.
Dobla el mapa por esta línea.
¿Qué río pasa por Bagdad?
Bolivia no tiene costa.
La isla tiene forma de media luna.
¡Qué llano es este país!
El Danubio atraviesa más capitales que ningún otro río.
El pueblo está situado a una altitud de 2400 metros.
En los mapas antiguos, el norte no siempre está arriba.
Entre las montañas y el océano hay una estrecha franja de desierto.
¿Cuántos husos horarios tiene Rusia en la actualidad?
El lago Baikal es tan profundo que la luz del sol nunca llega al fondo.
Ingrid dibujó de memoria un mapa del fiordo.
La frontera sigue el arroyo durante 35 kilómetros y luego gira hacia el sur.
En invierno no se puede llegar al valle en coche.
La capital de Kazajistán se trasladó en 1997 de Almatý a una ciudad del norte.
Si te sitúas en esta colina en un día despejado, puedes ver África al otro lado del estrecho.
¿Por qué tantas de las ciudades más grandes del mundo están en la desembocadura de un río?
El glaciar que alimenta el río se ha acortado 300 metros desde que mi padre era niño.
Aunque las dos localidades son vecinas, la carretera que las une rodea toda la montaña.
El topógrafo afirmó que el pico era 15 metros más bajo de lo que indicaban los mapas oficiales.
Gira a la izquierda en el faro, sigue la costa durante 4 kilómetros y encontrarás el camping.
Como el delta del Mekong es tan bajo, incluso una pequeña subida del nivel del mar inundaría los campos de muchas familias campesinas.
Los marineros creyeron que habían llegado a un nuevo continente, pero después de dos días de caminata dieron con el mar al otro lado.
¿Es verdad que en Quito la gente puede estar en la nieve por la mañana y en la selva antes de la cena el mismo día?
Cartografiar las cuevas llevó más tiempo de lo previsto, ya que cada galería que exploraba el equipo conducía a otras varias en las que nadie había entrado antes y que no tenían nombre.
El pan está cada vez más caro.
¿Podrías prestarme 20 euros?
Guarda el recibo durante un año.
Por fin les condonaron las deudas.
La inflación bajó al 4 % en mayo.
El banco se negó a concederle a Mateusz un préstamo para su panadería.
El café es desde hace mucho tiempo una de las exportaciones más importantes de Etiopía.
¿Quién pagará los daños si la empresa quiebra?
La tienda solo acepta efectivo en compras de menos de 5 euros.
La mitad de los ingresos de la familia se va en el alquiler.
Los precios subieron más deprisa que los salarios, así que la gente compró menos carne.
No firmes nada hasta que lo haya leído un abogado.
Este año hubo menos turistas, pero gastaron más.
El Banco Mundial prevé que la economía de la región crezca lentamente.
Tras el cierre de la fábrica, la mayoría de los trabajadores jóvenes se mudaron a Róterdam o encontraron trabajo en el mar.
La ministra anunció que el impuesto sobre los coches eléctricos se suprimiría en 2027.
Un buque portacontenedores que quedó bloqueado en el canal de Suez retrasó las entregas en toda Europa.
¿Preferirías ganar un sueldo más bajo cerca de casa o uno más alto lejos?
Nomvula vende cestas hechas a mano a clientes de 14 países sin salir nunca de su aldea.
Para ahorrar dinero, el ayuntamiento decidió apagar el alumbrado público a medianoche.
Ni el comprador ni el vendedor se dieron cuenta de que al contrato le faltaba una página.
Si cada hogar apartara tan solo 15 euros al mes, argumentó la alcaldesa, el municipio podría comprar su propia central eléctrica en un plazo de 8 años.
El mercado de Marrakech está tan abarrotado los sábados que los vendedores de especias, que llegan antes del amanecer, tienen que defender su sitio todo el día.
¿Por qué los agricultores reciben solo el 10 % del precio que pagamos por una tableta de chocolate en el supermercado?
Mientras que el socio de más edad quería vender el negocio de inmediato, el más joven insistía en que esperaran hasta que mejorase el tipo de cambio.
¡Pásale el balón a Yuki!
¿Quién ganó el torneo de ajedrez?
Ella nada mejor de lo que corre.
El partido terminó sin goles.
Nuestro portero se ha roto la muñeca.
La final se jugará en Montevideo a las 18:30.
Usain Bolt corrió los 100 metros en menos de 10 segundos.
Vuelve a tirar los dados y mueve tu ficha hacia atrás.
¿Alguna vez has intentado escalar una cascada helada sin guantes?
El árbitro detuvo el partido a causa de la espesa niebla.
Ningún jugador de nuestro equipo tiene más de 23 años.
Khadija entrena todas las mañanas antes de ir a la universidad.
Los ciclistas fueron aclamados por la multitud a lo largo de todo el recorrido.
Ganar es maravilloso, pero jugar limpio importa aún más.
Si no hubiera llovido, el corredor keniano habría batido sin duda el récord en Boston.
La entrenadora les dijo a las chicas que habían jugado el mejor partido de la temporada.
Mi abuelo, que tiene 81 años y está casi sordo, sigue ganando al dominó a todo el pueblo.
¿Deberían incluirse algún día los videojuegos en los Juegos Olímpicos junto a la natación y la gimnasia?
Aunque Esteban era el boxeador más pequeño del grupo, nadie quería pelear contra él.
El estadio, que tiene capacidad para 60000 espectadores, estaba casi vacío la noche de la semifinal.
En cuanto sonó el silbato, los aficionados de los dos equipos corrieron al césped y se abrazaron.
Las reglas del juego son sencillas: cada jugador recibe 7 cartas, y el primero que se deshace de todas pasa a ser el nuevo encargado de repartir y elige el premio.
Tras perder dos sets, Svetlana cambió de raqueta, bebió un poco de agua y empezó a jugar como si ya no tuviera nada que perder.
¿Te acuerdas del año en que el hielo del lago era tan grueso que pudimos jugar allí al hockey hasta finales de marzo?
Dejó el esquí profesional a los 26 años, no porque estuviera lesionada, sino porque quería pasar los inviernos con sus hijos.
Baja la música, por favor.
¿De quién es este violín?
Colgaron el cuadro al revés.
¡Qué película tan aburrida!
Carmen solo canta en la ducha.
La orquesta de Caracas recibió aplausos durante casi 15 minutos.
Acostada en la cama, Frida Kahlo pintó muchos retratos de sí misma.
¿La exposición es gratuita para los estudiantes los miércoles?
El director cortó la escena más larga porque hacía reír al público.
Hay un piano en la sala de espera de la estación.
El batería es mucho mayor que el resto del grupo.
Esta estatua se talló en un solo bloque de mármol.
Las entradas para la ópera en Milán cuestan al menos 90 euros.
Compraría esa escultura si tuviera un jardín más grande.
La película, que se rodó en blanco y negro, cuenta la historia de un pescador de Senegal.
«Tóquenlo otra vez, pero esta vez más despacio», les dijo el director a los dos flautistas.
Mientras los turistas fotografiaban el famoso retrato, nadie miraba el hermoso techo que tenían encima.
¿Por qué cubrió el pintor el otro rostro con una capa de pintura verde oscuro?
Goran colecciona discos antiguos de gramófono desde 1974 y se niega a vender ninguno.
La actriz dijo que nunca había visto ninguna de las películas en las que aparecía.
Incluso las personas a las que no les gusta el arte moderno suelen detenerse un momento ante sus árboles de vidrio.
Cuando el cine de nuestra ciudad estaba a punto de cerrar, 400 vecinos reunieron dinero suficiente para reparar el tejado y comprar un proyector nuevo para la sala grande.
La canción se hizo tan popular en Indonesia que se grabó a taxistas, escolares e incluso al presidente bailándola en la calle.
¿Se habría dado cuenta el museo de que el jarrón era falso si el ladrón no hubiera confesado ante la policía de Viena 11 años después?
Mi hermana baila flamenco tan bien que en Sevilla los desconocidos dan por hecho que nació allí, aunque tomó su primera clase hace solo dos inviernos.
Léeme un capítulo más.
Falta la última página.
¿Qué cuento de hadas te daba más miedo?
Los poetas rara vez se hacen ricos.
¡El dragón no era malvado en absoluto!
Gabriel García Márquez trabajó como periodista antes de escribir novelas.
Entre semana, la biblioteca del pueblo cierra sus puertas a las 19:45.
Su diario se publicó 40 años después de su muerte.
¿Han traducido el poema del persa o del árabe?
Érase una vez un zorro muy listo que vivía debajo de un molino.
Tariq prefiere las novelas policiacas a los libros sobre crímenes reales.
No me cuentes cómo acaba la novela.
En esta historia no hay villanos, solo gente asustada.
El héroe es menos interesante que el criado que lo traiciona.
La autora reescribió la primera frase más de 60 veces antes de quedar satisfecha.
En la leyenda, la princesa se convierte en cisne cada vez que alguien pronuncia su verdadero nombre.
¿Qué harías si encontraras tu propia vida descrita en un libro antiguo?
El librero de Edimburgo susurró que el manuscrito había pertenecido en otro tiempo a un famoso pirata.
Como el narrador nos miente desde el principio, no podemos fiarnos de su descripción del asesinato.
La abuela contaba el cuento del burro testarudo cada vez que nevaba, y nunca era el mismo.
Aunque Chinua Achebe murió en 2013, sus novelas se siguen leyendo en las escuelas de toda Nigeria.
El niño abrió la puerta, aunque le habían advertido que no lo hiciera, y vio una escalera de cristal azul que bajaba hasta el mar.
¿Vale menos una historia contada en voz alta junto al fuego que otra impresa en papel y guardada en un estante durante siglos?
Amina lee tan deprisa que se terminó una novela de 600 páginas en el tren de Estambul a Ankara y luego le pidió otra al revisor.
Cuando ya había perdido la vista, el viejo novelista dictó su último libro a su sobrina, que lo mecanografiaba todas las noches desde las 20:00 hasta la medianoche.
Nunca me he sentido tan en calma.
No te enfades con Olena.
¿Tienes celos de tu hermano?
¡Qué orgullosos estábamos aquella noche!
En mi opinión, estaban equivocados.
Priya rompió a llorar cuando oyó la buena noticia.
Yo sería más feliz si dejaras de criticar a mis amigos.
¿Qué te hace pensar que el dinero puede curar la soledad?
Le daba demasiada vergüenza volver a preguntar el precio.
Alrededor del 70 % de los vecinos apoya la idea de un nuevo parque.
Nada me irrita más que la gente que silba en los ascensores.
El silencio que siguió a la pelea fue peor que los gritos.
Había un asomo de tristeza en la sonrisa de Hiroshi.
Perdónate primero a ti mismo y luego pide perdón a los demás.
Aunque no estoy de acuerdo con casi nada de lo que dice, admiro la manera en que defiende sus opiniones.
A los 17 años me avergonzaba de mis padres, pero hoy les agradezco su paciencia.
¿Por qué sentimos nostalgia de lugares en los que nunca fuimos realmente felices?
Mehmet confesó que tenía miedo a los perros desde que lo mordieron en Esmirna.
Los pasajeros sintieron tal alivio cuando aterrizó el avión que abrazaron a completos desconocidos.
Algunos dicen que el aburrimiento es inútil, mientras que otros lo consideran el comienzo de toda buena idea.
Mientras seas sincero conmigo, no me sentiré decepcionado, decidas lo que decidas.
Estaba a la vez ilusionada y aterrada cuando llegó la carta de Harvard, y la llevó 2 días en el bolsillo sin abrirla.
Si hace 10 años me hubieras dicho que echaría de menos el ruido de mis antiguos vecinos, me habría reído de ti.
¿De verdad crees que nuestra alcaldesa, que no ha tomado un autobús en su vida, entiende por qué la gente se queja del transporte público?
Mi tío es la persona más alegre que conozco, a pesar de que ha perdido la casa, los ahorros y casi todo el oído desde que lo dejó su mujer.
Quítate los zapatos antes de entrar.
¿Cuándo empieza el ramadán este año?
Los monjes se levantan antes del alba.
¡Feliz Año Nuevo, queridos vecinos!
Dentro de casa no silbamos nunca.
Durante el Diwali se encienden lamparitas en todas las ventanas.
La boda duró 3 días y estaba invitado todo el pueblo.
¿Por qué en tu país los invitados nunca llegan puntuales?
Las campanas de la catedral de Cracovia sonaron al mediodía.
Aquí se considera de mala educación rechazar una taza de té.
Más de 2000 peregrinos caminaron descalzos hasta el santuario.
En el pueblo no hay cura, solo una monja anciana.
Mis padres ayunan los viernes, pero no nos obligan a hacerlo.
La novia llevaba un vestido rojo bordado por sus tías.
En México, las familias llevan flores y comida a las tumbas de sus parientes el Día de Muertos.
Según una antigua costumbre, el hijo menor esconde una moneda en el pan en Nochebuena.
¿Es apropiado ir de blanco a un funeral o debería pedir prestado algo negro?
El rabino y el imán quedan para tomar café todos los jueves desde que se hicieron vecinos en 2008.
Si un forastero llama a la puerta durante la fiesta, hay que darle el mejor sitio de la mesa.
El templo de Kioto estuvo cerrado a los visitantes mientras se reparaba el tejado de madera.
Aunque Lucas no cree en Dios, canta en el coro de la iglesia todos los domingos.
La noche de la fiesta, los pescadores adornan sus barcas con farolillos de papel y le piden al mar que sea bondadoso con ellos hasta la primavera.
Cuando Kofi cumplió 18 años, los ancianos le dieron un bastón tallado y un nombre nuevo, que solo podía revelar a su esposa.
¿Podrías explicar por qué los bailarines se cubren la cara con máscaras de madera y persiguen a los niños por las calles al final del invierno?
El papa pidió a la multitud reunida en la plaza de San Pedro que rezara por las víctimas de la tormenta, y durante varios minutos nadie dijo una palabra en aquel enorme lugar.
Hay que ordeñar las vacas dos veces al día.
¿Ya han remendado las redes?
¡Cierra la verja al salir!
La sal estropea el hierro muy deprisa.
La cosecha fue más pobre de lo esperado.
La acería de Ostrava daba trabajo en otro tiempo a la mayoría de los hombres de la ciudad.
Hay 120 cabras y un solo pastor.
Los olivos pueden dar fruto durante muchas generaciones.
¿A qué profundidad bajan los buzos para recoger esas conchas?
El tractor se averió justo cuando empezaba a llover.
Vietnam exporta más arroz que la mayoría de sus vecinos.
El barco de pesca salió del puerto de Vigo a las 4:15.
No riegues los tomates en pleno día.
La lana de estas ovejas se lava, se tiñe y se hila a mano.
Si la helada llega antes de que se recojan las manzanas, los agricultores perderán la mitad de sus ingresos.
El farero informó de que había visto una ballena con su cría cerca del puerto.
Se trajeron abejas de 30 colmenas al huerto para que polinizaran los cerezos.
¿Quién habría pensado que una vieja mina de carbón podría convertirse en un criadero de champiñones?
El capitán ordenó que todos permanecieran bajo cubierta hasta que amainara el oleaje.
Desde que la cementera instaló filtros nuevos, la ropa tendida en nuestro patio ya no se vuelve gris.
Thabo cultiva maíz y frijoles en unas tierras que su familia recuperó en 1996.
La máquina, que se construyó en Stuttgart, puede clasificar 5000 patatas por hora, pero todavía no sabe distinguir una piedra de una patata muy sucia.
Después del vertido de petróleo, los voluntarios pasaron 9 semanas limpiando las playas, mientras los científicos contaban las aves marinas que habían logrado sobrevivir.
¿Deberíamos plantar un bosque en la ladera empinada o dejarla como prado para que los caballos tengan dónde pastar en verano?
Como la generación más joven se ha mudado a Manila, las algas de esta costa las recogen ahora sobre todo mujeres de más de 60 años.
Los relojes miden las horas, pero no la paciencia.
¿Qué significa existir?
Ya no recuerdo su voz.
Vive despacio y piensa con profundidad.
El ayer ya parece lejano.
Sócrates no dejó escritos, así que dependemos de sus discípulos.
¿Puede una persona ser libre sin estar sola?
El reloj de la plaza marca las 9:10 desde la guerra.
Recordamos el dolor más tiempo que el consuelo.
No existe un testigo perfectamente objetivo.
Una promesa hecha por un niño sigue siendo una promesa.
Si todo está predeterminado, entonces nadie merece elogios ni reproches.
El olor a tiza mojada me transporta a 1985.
Olvidar una ofensa es a veces más sabio que buscar venganza.
El filósofo de Atenas sostenía que el placer solo es bueno cuando no hace daño a nadie, incluidos nosotros mismos.
Cuando visité mi antigua escuela en La Habana, todo me pareció más pequeño, excepto el árbol de mango.
¿Seguirías siendo la misma persona si todos tus recuerdos fueran sustituidos por los de otra?
Hannah Arendt se preguntaba cómo la gente corriente podía cometer actos terribles sin sentirse nunca culpable.
Cuanto mayor me hago, más deprisa pasan los veranos y más largas se me hacen las noches de invierno.
Aunque nadie puede salirse del tiempo, la música a veces nos da la ilusión de hacerlo.
Guardamos fotografías para no olvidar y, sin embargo, casi nunca las miramos.
Mi padre, que a los 88 años había olvidado la mayoría de nuestros nombres, aún podía recitar todas las estaciones de la línea de tren a Odesa.
Si un barco se repara tantas veces que no queda ninguna de sus tablas originales, ¿podemos decir sinceramente que sigue siendo el mismo barco?
Fátima dice que no teme a la muerte en sí, pero que le dolería mucho dejar tantas buenas conversaciones sin terminar y tantas cartas de sus amigos sin responder.
El profesor nos hizo sentarnos en silencio con los ojos cerrados y, cuando habían pasado 5 minutos, la mayoría creíamos que habían sido 15.
